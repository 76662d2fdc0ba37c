# Compiler settings and the helpers that declare our libraries and tests.

find_program(TENSMITH_CCACHE ccache)
if(TENSMITH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Depend mode saves a run of the preprocessor for each file that is new to the cache.
  set(_launcher env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${TENSMITH_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${_launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_launcher})
endif()

# lld links the LLVM-sized programs several times faster than GNU ld.
find_program(TENSMITH_LLD NAMES ld.lld HINTS /usr/lib/llvm-19/bin)
if(TENSMITH_LLD)
  get_filename_component(_lld_dir ${TENSMITH_LLD} DIRECTORY)
  add_link_options(-fuse-ld=lld -B${_lld_dir})
endif()

# The build has to stay short; how fast candidates are is for bench/candidate_bench to say, and it does at -O2.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
if(TENSMITH_SANITIZE)
  # GCC warns of uninitialized reads that only the instrumentation seems to make.
  add_compile_options(-fsanitize=${TENSMITH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${TENSMITH_SANITIZE})
endif()

# tensmith_export(TARGET NAME): it is installed, and `Tensmith::NAME` for users of the package and of a larger build.
function(tensmith_export target name)
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  add_library(Tensmith::${name} ALIAS ${target})
  install(TARGETS ${target} EXPORT TensmithTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# tensmith_library(NAME SOURCES... [DEPENDS targets...] [PRIVATE_DEPENDS targets...])
# One library a directory; public headers come from include/, private ones sit beside the sources.
function(tensmith_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${name} INTERFACE cxx_std_20)
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_PRIVATE_DEPENDS})
  string(REGEX REPLACE "^tensmith_" "" short ${name})
  tensmith_export(${name} ${short})
  # Not in other builds: what a file forgot to include would go unseen.
  if(TENSMITH_SANITIZE)
    if(NOT TARGET tensmith_library_headers)
      add_library(tensmith_library_headers STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/precompiled.cpp)
      target_precompile_headers(tensmith_library_headers PRIVATE
        <algorithm> <functional> <memory> <optional> <span> <string> <unordered_map> <vector> <fmt/format.h>)
    endif()
    target_precompile_headers(${name} REUSE_FROM tensmith_library_headers)
  endif()
endfunction()

# The headers that every test includes, compiled once for all of them.
function(tensmith_test_headers)
  if(TARGET tensmith_test_headers)
    return()
  endif()
  # A program, as the tests are: code for libraries is made differently.
  add_executable(tensmith_test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/precompiled.cpp)
  target_link_libraries(tensmith_test_headers PRIVATE GTest::gtest fmt::fmt)
  tensmith_test_options(tensmith_test_headers)
  target_precompile_headers(tensmith_test_headers PRIVATE <gtest/gtest.h> <fmt/format.h>)
endfunction()

# What a precompiled header asks to be the same in all that use it.
function(tensmith_test_options name)
  target_compile_definitions(${name} PRIVATE TENSMITH_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TENSMITH_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(NOT TENSMITH_SANITIZE)
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

# tensmith_test(NAME SOURCES... [DEPENDS targets...] [LABELS labels...])
# A GoogleTest program, which is one ctest test; NAME is the path of its directory below tests/, joined by `_`, and `_test`. The label `sanitize` makes it a part of the sanitizer runs too; TIMEOUT is in seconds.
function(tensmith_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE rule)
  string(REGEX REPLACE "^tests/" "" rule ${rule})
  string(REPLACE "/" "_" rule ${rule}_test)
  if(NOT name STREQUAL rule)
    message(FATAL_ERROR "the tests of this directory are called ${rule}, not ${name}")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main fmt::fmt)
  tensmith_test_options(${name})
  tensmith_test_headers()
  target_precompile_headers(${name} REUSE_FROM tensmith_test_headers)
  # What a build for one label has to compile: `sanitize` for the address and undefined-behaviour sanitizers, `threads` for
  # the thread sanitizer.
  foreach(label IN LISTS ARG_LABELS)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${name})
  endforeach()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# tensmith_proto_library(NAME FILE): the C++ code of proto/FILE, as a library of its own, without our warnings.
function(tensmith_proto_library name file)
  find_package(Protobuf REQUIRED)
  get_filename_component(base ${file} NAME_WE)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out})
  add_custom_command(
    OUTPUT ${out}/${base}.pb.cc ${out}/${base}.pb.h
    COMMAND protobuf::protoc --cpp_out=${out} -I${PROJECT_SOURCE_DIR}/proto ${PROJECT_SOURCE_DIR}/proto/${file}
    DEPENDS ${PROJECT_SOURCE_DIR}/proto/${file}
    VERBATIM)
  add_library(${name} STATIC ${out}/${base}.pb.cc)
  target_include_directories(${name} SYSTEM PUBLIC $<BUILD_INTERFACE:${out}>)
  target_compile_options(${name} PRIVATE -w)
  target_link_libraries(${name} PUBLIC protobuf::libprotobuf)
  string(REGEX REPLACE "^tensmith_" "" short ${name})
  tensmith_export(${name} ${short})
endfunction()
