#pragma once

#include <cstddef>
#include <cstdint>

#include "explore/measure/kernel/dynamic_library.h"

/// As much of NVIDIA's run-time compiler and driver as running a kernel takes: both are loaded at run time, and what is
/// declared here is their stable binary interface.

namespace tensmith::cuda {

using Handle = void*;  ///< a program, context, module, function, stream or event
using Pointer = uint64_t;

struct Compiler {
  Compiler();

  int (*Version)(int*, int*);
  int (*CreateProgram)(Handle*, const char*, const char*, int, const char* const*, const char* const*);
  int (*DestroyProgram)(Handle*);
  int (*AddNameExpression)(Handle, const char*);
  int (*CompileProgram)(Handle, int, const char* const*);
  int (*GetPTXSize)(Handle, size_t*);
  int (*GetPTX)(Handle, char*);
  int (*GetLoweredName)(Handle, const char*, const char**);
  int (*GetProgramLogSize)(Handle, size_t*);
  int (*GetProgramLog)(Handle, char*);

 private:
  DynamicLibrary library_;
};

inline constexpr int kMaxThreads = 1;  ///< of a block
inline constexpr int kMaxBlockX = 2;   ///< also y and z behind it
inline constexpr int kMaxGridX = 5;
inline constexpr int kMajor = 75;  ///< of the compute capability
inline constexpr int kMinor = 76;
inline constexpr int kInvalidValue = 1;
inline constexpr int kOutOfResources = 701;

struct Driver {
  Driver();

  int (*Init)(unsigned);
  int (*GetErrorName)(int, const char**);
  int (*DeviceGetCount)(int*);
  int (*DeviceGet)(int*, int);
  int (*DeviceGetName)(char*, int, int);
  int (*DeviceGetAttribute)(int*, int, int);
  int (*PrimaryCtxRetain)(Handle*, int);
  int (*CtxSetCurrent)(Handle);
  int (*CtxSynchronize)();
  int (*MemAlloc)(Pointer*, size_t);
  int (*MemcpyHtoD)(Pointer, const void*, size_t);
  int (*MemcpyDtoH)(void*, Pointer, size_t);
  int (*ModuleLoadData)(Handle*, const void*);
  int (*ModuleUnload)(Handle);
  int (*ModuleGetFunction)(Handle*, Handle, const char*);
  int (*FuncGetParamInfo)(Handle, size_t, size_t*, size_t*);  ///< null before CUDA 12.4
  int (*LaunchKernel)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**,
                      void**);
  int (*EventCreate)(Handle*, unsigned);
  int (*EventRecord)(Handle, Handle);
  int (*EventSynchronize)(Handle);
  int (*EventElapsedTime)(float*, Handle, Handle);

 private:
  DynamicLibrary library_;
};

}  // namespace tensmith::cuda
