# Installs the build into a directory of its own, builds a program against that package, and runs it.
# Inputs: GENERATOR, C, CXX, SOURCE, TUNING_PROGRAM, RUNTIME_PROGRAM, BUILD, OUTPUT.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${OUTPUT})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${OUTPUT}/prefix OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
# The sources are not to be found through the package: what it needs is in it.
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${OUTPUT}/build
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_PREFIX_PATH=${OUTPUT}/prefix
    -DTUNING_PROGRAM=${TUNING_PROGRAM} -DRUNTIME_PROGRAM=${RUNTIME_PROGRAM}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${OUTPUT}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT}/build/consumer 2 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT}/build/runtime_consumer COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT}/prefix/bin/tensmith --version COMMAND_ERROR_IS_FATAL ANY)
