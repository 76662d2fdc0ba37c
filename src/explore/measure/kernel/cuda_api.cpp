#include "explore/measure/kernel/cuda_api.h"

namespace tensmith::cuda {

Compiler::Compiler()
    : library_(
          {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "/usr/local/cuda/lib64/libnvrtc.so"},
          "a kernel in CUDA", "install NVIDIA's run-time compiler (NVRTC, a part of the CUDA toolkit)") {
  library_.get(Version, "nvrtcVersion");
  library_.get(CreateProgram, "nvrtcCreateProgram");
  library_.get(DestroyProgram, "nvrtcDestroyProgram");
  library_.get(AddNameExpression, "nvrtcAddNameExpression");
  library_.get(CompileProgram, "nvrtcCompileProgram");
  library_.get(GetPTXSize, "nvrtcGetPTXSize");
  library_.get(GetPTX, "nvrtcGetPTX");
  library_.get(GetLoweredName, "nvrtcGetLoweredName");
  library_.get(GetProgramLogSize, "nvrtcGetProgramLogSize");
  library_.get(GetProgramLog, "nvrtcGetProgramLog");
}

Driver::Driver()
    : library_({"libcuda.so.1"}, "running a kernel in CUDA",
               "it comes with NVIDIA's driver, and needs one of their GPUs") {
  library_.get(Init, "cuInit");
  library_.get(GetErrorName, "cuGetErrorName");
  library_.get(DeviceGetCount, "cuDeviceGetCount");
  library_.get(DeviceGet, "cuDeviceGet");
  library_.get(DeviceGetName, "cuDeviceGetName");
  library_.get(DeviceGetAttribute, "cuDeviceGetAttribute");
  library_.get(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  library_.get(CtxSetCurrent, "cuCtxSetCurrent");
  library_.get(CtxSynchronize, "cuCtxSynchronize");
  library_.get(MemAlloc, "cuMemAlloc_v2");
  library_.get(MemcpyHtoD, "cuMemcpyHtoD_v2");
  library_.get(MemcpyDtoH, "cuMemcpyDtoH_v2");
  library_.get(ModuleLoadData, "cuModuleLoadData");
  library_.get(ModuleUnload, "cuModuleUnload");
  library_.get(ModuleGetFunction, "cuModuleGetFunction");
  library_.find(FuncGetParamInfo, "cuFuncGetParamInfo");
  library_.get(LaunchKernel, "cuLaunchKernel");
  library_.get(EventCreate, "cuEventCreate");
  library_.get(EventRecord, "cuEventRecord");
  library_.get(EventSynchronize, "cuEventSynchronize");
  library_.get(EventElapsedTime, "cuEventElapsedTime");
}

}  // namespace tensmith::cuda
