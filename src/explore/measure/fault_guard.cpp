#include "explore/measure/fault_guard.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <array>

#include <fmt/format.h>

#include "explore/measure/channel.h"
#include "measure.pb.h"

namespace tensmith {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

/// What the handler may touch: everything is ready before a signal can come.
struct State {
  int reply_fd = -1;
  std::string wild_store;
  std::array<std::string, kSignals.size()> crash;
  std::vector<const GuardedBuffer*> buffers;
};
State* state = nullptr;

void on_fault(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const std::string* reply = nullptr;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) {
      reply = &state->crash[i];
    }
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    for (const GuardedBuffer* buffer : state->buffers) {
      if (buffer->owns(address)) {
        reply = &state->wild_store;
      }
    }
  }
  if (reply != nullptr) {
    const ssize_t ignored = write(state->reply_fd, reply->data(), reply->size());
    static_cast<void>(ignored);
  }
  _exit(3);
}

}  // namespace

FaultGuard::FaultGuard(int reply_fd) {
  // Never freed: a fault may come at any time until the process ends.
  state = new State;
  state->reply_fd = reply_fd;
  proto::RunnerReply reply;
  reply.set_status(proto::RunnerReply::WILD_STORE);
  reply.set_error("accessed memory outside its operands (or stored to an input)");
  state->wild_store = frame(reply);
  for (size_t i = 0; i < kSignals.size(); ++i) {
    reply.set_status(proto::RunnerReply::CRASH);
    reply.set_error(fmt::format("died of signal {} ({})", kSignals[i], strsignal(kSignals[i])));
    state->crash[i] = frame(reply);
  }
  constexpr size_t kStackBytes = 64 << 10;
  stack_t stack{};
  stack.ss_sp = new char[kStackBytes];
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int signal : kSignals) {
    sigaction(signal, &action, nullptr);
  }
}

void FaultGuard::watch(std::span<const GuardedBuffer* const> buffers) {
  state->buffers.assign(buffers.begin(), buffers.end());
}

}  // namespace tensmith
