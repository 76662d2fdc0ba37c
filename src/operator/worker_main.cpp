#include "tensmith/operator/worker_main.h"

#include <string>
#include <string_view>
#include <vector>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/operator/tune_workload.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {

std::optional<int> run_worker_if_asked(int argc, char** argv) {
  if (!is_worker_process() || argc < 3 || std::string_view(argv[1]) != "worker") return std::nullopt;
  if (std::string_view(argv[2]) == "runner") return run_runner();
  if (std::string_view(argv[2]) == "kernel-runner") return run_kernel_runner();
  std::vector<int> allowed;
  for (std::string_view cpu : split_string(argc > 3 ? argv[3] : "", ',')) {
    if (const std::optional<int64_t> number = parse_int64(cpu)) allowed.push_back(static_cast<int>(*number));
  }
  pin_thread_to_cpus(allowed);  // where it is refused, the builder runs anywhere
  return run_builder([](const std::string& workload, const std::string& target, int threads) {
    return make_task_and_program(parse_workload(workload), parse_target(target), threads);
  });
}

}  // namespace tensmith
