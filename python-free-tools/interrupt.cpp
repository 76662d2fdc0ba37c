#include "interrupt.h"

#include <csignal>

namespace tensmith::cli {
namespace {

std::atomic<bool> stop_requested{false};
std::atomic<int> stop_signal{0};

void on_interrupt(int signal) {
  stop_signal = signal;
  stop_requested = true;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

const std::atomic<bool>& interrupt_requested() { return stop_requested; }

int interrupting_signal() { return stop_signal; }

}  // namespace tensmith::cli
