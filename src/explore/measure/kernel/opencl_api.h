#pragma once

#include <cstddef>
#include <cstdint>

#include "explore/measure/kernel/dynamic_library.h"

/// As much of OpenCL 1.2 as running a kernel takes. The library is loaded at run time, and what is declared here is its
/// stable binary interface, so that nothing has to be installed to build Tensmith.

namespace tensmith::cl {

using Handle = void*;  ///< a platform, device, context, queue, program, kernel, buffer or event
using Int = int32_t;
using UInt = uint32_t;
using ULong = uint64_t;

inline constexpr Int kSuccess = 0;
inline constexpr Int kDeviceNotFound = -1;
inline constexpr Int kOutOfResources = -5;
inline constexpr Int kInvalidWorkGroupSize = -54;
inline constexpr ULong kDeviceTypeCpu = 1 << 1;
inline constexpr ULong kDeviceTypeGpu = 1 << 2;
inline constexpr ULong kDeviceTypeAll = 0xFFFFFFFF;
inline constexpr UInt kPlatformName = 0x0902;
inline constexpr UInt kDeviceType = 0x1000;
inline constexpr UInt kDeviceMaxWorkGroupSize = 0x1004;
inline constexpr UInt kDeviceMaxWorkItemSizes = 0x1005;
inline constexpr UInt kDeviceAddressBits = 0x100D;
inline constexpr UInt kDeviceName = 0x102B;
inline constexpr UInt kDriverVersion = 0x102D;
inline constexpr UInt kProgramBuildLog = 0x1183;
inline constexpr UInt kKernelNumArgs = 0x1191;
inline constexpr UInt kKernelArgTypeName = 0x1198;
inline constexpr UInt kKernelWorkGroupSize = 0x11B0;
inline constexpr ULong kQueueProfiling = 1 << 1;
inline constexpr ULong kMemReadWrite = 1 << 0;
inline constexpr ULong kMemReadOnly = 1 << 2;
inline constexpr ULong kMemUseHostPtr = 1 << 3;
inline constexpr ULong kMapRead = 1 << 0;
inline constexpr ULong kMapWrite = 1 << 1;
inline constexpr UInt kProfilingStart = 0x1282;
inline constexpr UInt kProfilingEnd = 0x1283;
inline constexpr UInt kTrue = 1;

/// The functions, by the names that they have after "cl".
struct Api {
  Api();

  Int (*GetPlatformIDs)(UInt, Handle*, UInt*);
  Int (*GetPlatformInfo)(Handle, UInt, size_t, void*, size_t*);
  Int (*GetDeviceIDs)(Handle, ULong, UInt, Handle*, UInt*);
  Int (*GetDeviceInfo)(Handle, UInt, size_t, void*, size_t*);
  Handle (*CreateContext)(const intptr_t*, UInt, const Handle*, void*, void*, Int*);
  Handle (*CreateCommandQueue)(Handle, Handle, ULong, Int*);
  Handle (*CreateBuffer)(Handle, ULong, size_t, void*, Int*);
  Handle (*CreateProgramWithSource)(Handle, UInt, const char**, const size_t*, Int*);
  Int (*BuildProgram)(Handle, UInt, const Handle*, const char*, void*, void*);
  Int (*GetProgramBuildInfo)(Handle, Handle, UInt, size_t, void*, size_t*);
  Int (*ReleaseProgram)(Handle);
  Handle (*CreateKernel)(Handle, const char*, Int*);
  Int (*GetKernelInfo)(Handle, UInt, size_t, void*, size_t*);
  Int (*GetKernelArgInfo)(Handle, UInt, UInt, size_t, void*, size_t*);
  Int (*GetKernelWorkGroupInfo)(Handle, Handle, UInt, size_t, void*, size_t*);
  Int (*SetKernelArg)(Handle, UInt, size_t, const void*);
  Int (*ReleaseKernel)(Handle);
  Int (*EnqueueNDRangeKernel)(Handle, Handle, UInt, const size_t*, const size_t*, const size_t*, UInt, const Handle*,
                              Handle*);
  Int (*EnqueueReadBuffer)(Handle, Handle, UInt, size_t, size_t, void*, UInt, const Handle*, Handle*);
  Int (*EnqueueWriteBuffer)(Handle, Handle, UInt, size_t, size_t, const void*, UInt, const Handle*, Handle*);
  void* (*EnqueueMapBuffer)(Handle, Handle, UInt, ULong, size_t, size_t, UInt, const Handle*, Handle*, Int*);
  Int (*EnqueueUnmapMemObject)(Handle, Handle, void*, UInt, const Handle*, Handle*);
  Int (*Finish)(Handle);
  Int (*GetEventProfilingInfo)(Handle, UInt, size_t, void*, size_t*);
  Int (*ReleaseEvent)(Handle);

 private:
  DynamicLibrary library_;
};

/// "CL_OUT_OF_RESOURCES" and the like; the number of those that are rare.
const char* error_name(Int error);

}  // namespace tensmith::cl
