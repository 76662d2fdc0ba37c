# Compiles an operator with the command line, then call_from_c.c against it with the C compiler, and runs that.
# Inputs: CC, TENSMITH, SOURCE, INCLUDE, LIBRARY, OUTPUT.

cmake_minimum_required(VERSION 3.25)

execute_process(COMMAND ${TENSMITH} compile matmul:m=64,n=64,k=64,epilogue=bias --threads=2 --name=my_matmul -o ${OUTPUT}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CC} -std=c11 -Wall -Wextra -Werror -I${INCLUDE} -I${OUTPUT} ${SOURCE} ${OUTPUT}/my_matmul.o ${LIBRARY}
  -o ${OUTPUT}/call_from_c COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OUTPUT}/call_from_c COMMAND_ERROR_IS_FATAL ANY)
