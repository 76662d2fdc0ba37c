#include "explore/measure/fault_guard.h"

#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <vector>

#include <fmt/format.h>

#include "explore/measure/channel.h"
#include "explore/measure/fork_guard.h"
#include "measure.pb.h"

namespace tensmith {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

enum Access : uint8_t { kRead, kWrite, kUnknown };
enum Place : uint8_t { kInFront, kInside, kBehind };
constexpr size_t kAccesses = 3;
constexpr size_t kPlaces = 3;

/// What the handler may touch: everything is ready before a signal can come.
struct Watched {
  const GuardedBuffer* buffer = nullptr;
  std::array<std::array<std::string, kPlaces>, kAccesses> replies;
};
struct State {
  int reply_fd = -1;
  std::array<std::string, kSignals.size()> crash;
  std::vector<Watched> buffers;
};
State* state = nullptr;

std::string fault_text(Access access, Place place, const std::string& name) {
  constexpr const char* kDid[] = {"read", "wrote", "read or wrote"};
  if (place == kInside) return fmt::format("{} to {}, which may only be read", kDid[kWrite], name);
  return fmt::format("{} {} {}", kDid[access], place == kInFront ? "in front of" : "behind the end of", name);
}

Access access_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  constexpr greg_t kWriteBit = 2;  // of a page fault's error code
  const auto* told = static_cast<const ucontext_t*>(context);
  return (told->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? kWrite : kRead;
#else
  return kUnknown;
#endif
}

Place place_of(const GuardedBuffer& buffer, uintptr_t address) {
  const auto begin = reinterpret_cast<uintptr_t>(buffer.data());
  return address < begin ? kInFront : address < begin + buffer.size() ? kInside : kBehind;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  // The process itself answers for its copies.
  if (is_fork_copy()) _exit(3);
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const std::string* reply = nullptr;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (kSignals[i] == signal) {
      reply = &state->crash[i];
    }
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    for (const Watched& watched : state->buffers) {
      if (watched.buffer->owns(address)) {
        reply = &watched.replies[access_of(context)][place_of(*watched.buffer, address)];
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

void FaultGuard::watch(std::span<const WatchedBuffer> buffers) {
  std::vector<Watched> all;
  for (const WatchedBuffer& buffer : buffers) {
    Watched& watched = all.emplace_back();
    watched.buffer = buffer.buffer;
    for (Access access : {kRead, kWrite, kUnknown}) {
      for (Place place : {kInFront, kInside, kBehind}) {
        proto::RunnerReply reply;
        // What may only be read faults when it is written to, whatever the processor tells.
        const bool read = access == kRead && place != kInside;
        reply.set_status(read ? proto::RunnerReply::CRASH : proto::RunnerReply::WILD_STORE);
        reply.set_error(fault_text(access, place, buffer.name));
        watched.replies[access][place] = frame(reply);
      }
    }
  }
  state->buffers = std::move(all);
}

}  // namespace tensmith
