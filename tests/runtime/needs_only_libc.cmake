# Fails when the shared run-time library needs anything but libc, or exports anything but the documented interface.
# Inputs: SHARED, READELF, NM.

cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${READELF} -d ${SHARED} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]*\\]" needed "${dynamic}")
set(names "")
foreach(line IN LISTS needed)
  string(REGEX REPLACE ".*\\[(.*)\\].*" "\\1" name "${line}")
  list(APPEND names ${name})
endforeach()
if(NOT "libc.so.6" IN_LIST names)
  message(FATAL_ERROR "libc.so.6 is not among the needed libraries (${names}): is the output of readelf read right?")
endif()
# libpthread is part of libc since glibc 2.34, and a library of its own before.
list(REMOVE_ITEM names libc.so.6 libpthread.so.0)
if(names)
  message(FATAL_ERROR "${SHARED} needs ${names}; it may need libc and libpthread only")
endif()

execute_process(COMMAND ${NM} -D --undefined-only ${SHARED} OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
if(undefined MATCHES "[^\n]* (_Z|__cxa_(throw|begin|end|guard|pure)|__gxx|_Unwind|__tls_get_addr|GLIBCXX)[^\n]*")
  message(FATAL_ERROR "${SHARED} uses a symbol of the C++ run-time: ${CMAKE_MATCH_0}")
endif()

execute_process(COMMAND ${NM} -D --defined-only ${SHARED} OUTPUT_VARIABLE defined COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " [A-Za-z] [^\n]+" symbols "${defined}")
list(LENGTH symbols count)
if(count LESS 10)
  message(FATAL_ERROR "only ${count} exported symbols: is the output of nm read right?")
endif()
foreach(symbol IN LISTS symbols)
  if(NOT symbol MATCHES "^ T tensmith_[a-z_]+$")
    message(FATAL_ERROR "${SHARED} exports${symbol}, which is not part of the interface")
  endif()
endforeach()
