#include <exception>
#include <optional>

#include "explore/measure/channel.h"
#include "explore/measure/messages.h"
#include "tensmith/explore/measure/worker.h"
#include "tensmith/support/error.h"

namespace tensmith {
namespace {

proto::BuildReply reply_to(const proto::BuildRequest& request, const TaskAndProgram& made, const BuildFunction& build) {
  Config config;
  config.choices.assign(request.choices().begin(), request.choices().end());
  BuildOutcome outcome = build(made.task, config, made.program);
  proto::BuildReply reply;
  reply.set_ok(outcome.ok);
  reply.set_invalid(outcome.invalid);
  reply.set_error(outcome.error);
  reply.set_seconds(outcome.seconds);
  if (outcome.ok) {
    *reply.mutable_module() = to_proto(outcome.module);
  }
  return reply;
}

}  // namespace

int run_builder(const TaskFactory& factory, const BuildFunction& build) {
  // One workload is built again and again: its task is made for the first request.
  struct Made {
    std::string workload;
    std::string target;
    int threads;
    TaskAndProgram made;
  };
  std::optional<Made> current;
  proto::BuildRequest request;
  while (receive_message(kWorkerSocketFd, request) == ReadResult::kDone) {
    proto::BuildReply reply;
    try {
      const std::string& workload = request.workload();
      if (!current || current->workload != workload || current->target != request.target() ||
          current->threads != request.threads()) {
        current =
            Made{workload, request.target(), request.threads(), factory(workload, request.target(), request.threads())};
      }
      reply = reply_to(request, current->made, build);
    } catch (const std::exception& e) {
      reply.set_error(e.what());
    }
    if (!send_message(kWorkerSocketFd, reply)) {
      return 1;
    }
  }
  return 0;
}

}  // namespace tensmith
