# Builds a C11 program against the static run-time library with the C compiler, runs it, and looks at what it needs.
# Inputs: CC, SOURCE, INCLUDE, LIBRARY, OUTPUT, SANITIZE, READELF.

cmake_minimum_required(VERSION 3.25)

set(flags -std=c11 -Wall -Wextra -Wpedantic -Werror)
if(SANITIZE)
  list(APPEND flags -fsanitize=${SANITIZE})
endif()
execute_process(COMMAND ${CC} ${flags} -I${INCLUDE} ${SOURCE} ${LIBRARY} -o ${OUTPUT} RESULT_VARIABLE code)
if(code)
  message(FATAL_ERROR "a C11 program does not link with ${LIBRARY} alone")
endif()
execute_process(COMMAND ${OUTPUT} RESULT_VARIABLE code)
if(code)
  message(FATAL_ERROR "${OUTPUT} ended with ${code}")
endif()
if(NOT SANITIZE)
  execute_process(COMMAND ${READELF} -d ${OUTPUT} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
  if(dynamic MATCHES "NEEDED[^\n]*(stdc\\+\\+|libgcc|libm\\.)")
    message(FATAL_ERROR "the C program needs ${CMAKE_MATCH_1}")
  endif()
endif()
