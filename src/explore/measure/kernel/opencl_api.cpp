#include "explore/measure/kernel/opencl_api.h"

namespace tensmith::cl {

Api::Api()
    : library_({"libOpenCL.so.1", "libOpenCL.so"}, "a kernel in OpenCL",
               "install ocl-icd-libopencl1 and a driver: the vendor's for a GPU, pocl-opencl-icd for this CPU") {
  const auto get = [&](auto& pointer, const char* name) { library_.get(pointer, name); };
  get(GetPlatformIDs, "clGetPlatformIDs");
  get(GetPlatformInfo, "clGetPlatformInfo");
  get(GetDeviceIDs, "clGetDeviceIDs");
  get(GetDeviceInfo, "clGetDeviceInfo");
  get(CreateContext, "clCreateContext");
  get(CreateCommandQueue, "clCreateCommandQueue");
  get(CreateBuffer, "clCreateBuffer");
  get(CreateProgramWithSource, "clCreateProgramWithSource");
  get(BuildProgram, "clBuildProgram");
  get(GetProgramBuildInfo, "clGetProgramBuildInfo");
  get(ReleaseProgram, "clReleaseProgram");
  get(CreateKernel, "clCreateKernel");
  get(GetKernelInfo, "clGetKernelInfo");
  get(GetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo");
  get(GetKernelArgInfo, "clGetKernelArgInfo");
  get(SetKernelArg, "clSetKernelArg");
  get(ReleaseKernel, "clReleaseKernel");
  get(EnqueueNDRangeKernel, "clEnqueueNDRangeKernel");
  get(EnqueueReadBuffer, "clEnqueueReadBuffer");
  get(EnqueueWriteBuffer, "clEnqueueWriteBuffer");
  get(EnqueueMapBuffer, "clEnqueueMapBuffer");
  get(EnqueueUnmapMemObject, "clEnqueueUnmapMemObject");
  get(Finish, "clFinish");
  get(GetEventProfilingInfo, "clGetEventProfilingInfo");
  get(ReleaseEvent, "clReleaseEvent");
}

const char* error_name(Int error) {
  switch (error) {
    case -1: return "CL_DEVICE_NOT_FOUND";
    case -4: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case -5: return "CL_OUT_OF_RESOURCES";
    case -6: return "CL_OUT_OF_HOST_MEMORY";
    case -11: return "CL_BUILD_PROGRAM_FAILURE";
    case -30: return "CL_INVALID_VALUE";
    case -46: return "CL_INVALID_KERNEL_NAME";
    case -49: return "CL_INVALID_ARG_INDEX";
    case -50: return "CL_INVALID_ARG_VALUE";
    case -51: return "CL_INVALID_ARG_SIZE";
    case -52: return "CL_INVALID_KERNEL_ARGS";
    case -53: return "CL_INVALID_WORK_DIMENSION";
    case -54: return "CL_INVALID_WORK_GROUP_SIZE";
    case -55: return "CL_INVALID_WORK_ITEM_SIZE";
    case -61: return "CL_INVALID_BUFFER_SIZE";
    case -63: return "CL_INVALID_GLOBAL_WORK_SIZE";
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return "an error";
  }
}

}  // namespace tensmith::cl
