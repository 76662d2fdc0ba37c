# Configures a larger build that has Tensmith in it. Building it would compile everything once more.
# Inputs: GENERATOR, C, CXX, SOURCE, TUNING_PROGRAM, RUNTIME_PROGRAM, TREE, OUTPUT.
cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE ${OUTPUT})
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE} -B ${OUTPUT}
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX} -DTENSMITH_TREE=${TREE}
    -DTUNING_PROGRAM=${TUNING_PROGRAM} -DRUNTIME_PROGRAM=${RUNTIME_PROGRAM}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(unwanted tests bench examples)
  if(EXISTS ${OUTPUT}/tensmith/${unwanted})
    message(FATAL_ERROR "${unwanted}/ takes part in a larger build")
  endif()
endforeach()
