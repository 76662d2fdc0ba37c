#include "tensmith/support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/strings.h"

extern char** environ;

namespace tensmith {
namespace {

// Everything the child needs between fork and exec, made beforehand: in a process with threads the child may not
// allocate, because another thread may have held the allocator's lock when the process was copied.
struct ChildPlan {
  std::string program;
  std::vector<char*> argv;
  std::vector<std::string> environment_storage;
  std::vector<char*> envp;
  std::vector<FdMapping> fds;
  std::vector<int> moved;        // where each mapping waits while the final numbers are filled
  std::vector<int> kept;         // numbers below `first_free` that stay open, rising
  int first_free = 3;            // above every number that the child is promised
  int descriptor_limit = 65536;  // for systems without close_range
  int error_fd = -1;             // tells the parent why the child could not start
  pid_t parent = 0;
  bool die_with_parent = false;
  bool core_dumps = false;
  std::optional<uint64_t> address_space_bytes;
};

[[noreturn]] void report_and_exit(int fd, int error) {
  // There is nobody else to tell, so a failing write changes nothing.
  [[maybe_unused]] const ssize_t written = ::write(fd, &error, sizeof(error));
  ::_exit(127);
}

// Closes the descriptors from `first` to before `end`.
void close_descriptors(int first, unsigned end, int limit) {
  if (static_cast<unsigned>(first) >= end) return;
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, static_cast<unsigned>(first), end - 1, 0) == 0) return;
#endif
  const int stop = static_cast<int>(std::min(end, static_cast<unsigned>(limit)));
  for (int fd = first; fd < stop; ++fd) ::close(fd);
}

// Runs in the child: async-signal-safe calls only.
[[noreturn]] void run_child(ChildPlan& plan) {
  int error_fd = ::fcntl(plan.error_fd, F_DUPFD_CLOEXEC, plan.first_free);
  if (error_fd < 0) report_and_exit(plan.error_fd, errno);
  for (size_t i = 0; i < plan.fds.size(); ++i) {
    plan.moved[i] = ::fcntl(plan.fds[i].parent_fd, F_DUPFD_CLOEXEC, plan.first_free);
    if (plan.moved[i] < 0) report_and_exit(error_fd, errno);
  }
  for (size_t i = 0; i < plan.fds.size(); ++i) {
    if (::dup2(plan.moved[i], plan.fds[i].child_fd) < 0) report_and_exit(error_fd, errno);
  }
  int next = 0;
  for (int kept : plan.kept) {
    close_descriptors(next, static_cast<unsigned>(kept), plan.descriptor_limit);
    next = kept + 1;
  }
  close_descriptors(next, static_cast<unsigned>(error_fd), plan.descriptor_limit);
  close_descriptors(error_fd + 1, ~0U, plan.descriptor_limit);

  ::setpgid(0, 0);
  if (plan.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have died before the line above took effect.
    if (::getppid() != plan.parent) ::_exit(127);
  }
  if (!plan.core_dumps) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
  }
  if (plan.address_space_bytes) {
    const rlimit limit{*plan.address_space_bytes, *plan.address_space_bytes};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) report_and_exit(error_fd, errno);
  }
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan.program.c_str(), plan.argv.data(), plan.envp.data());
  report_and_exit(error_fd, errno);
}

// What execvp would find; the name itself when nothing fits, so that exec tells the reason.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  for (std::string_view directory : split_string(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    std::string candidate = directory.empty() ? name : fmt::format("{}/{}", directory, name);
    struct stat info {};
    if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return name;
}

std::string_view key_of(std::string_view entry) { return entry.substr(0, entry.find('=')); }

ChildPlan make_plan(const SpawnOptions& options) {
  TENSMITH_ICHECK(!options.argv.empty() && !options.argv[0].empty(), "a child needs a program");
  ChildPlan plan;
  plan.program = find_program(options.argv[0]);
  // exec takes pointers to char that it does not write through.
  for (const std::string& argument : options.argv) plan.argv.push_back(const_cast<char*>(argument.c_str()));
  plan.argv.push_back(nullptr);

  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const bool replaced = std::any_of(options.environment.begin(), options.environment.end(),
                                      [&](const std::string& ours) { return key_of(ours) == key_of(*entry); });
    if (!replaced) plan.environment_storage.emplace_back(*entry);
  }
  plan.environment_storage.insert(plan.environment_storage.end(), options.environment.begin(),
                                  options.environment.end());
  for (std::string& entry : plan.environment_storage) plan.envp.push_back(entry.data());
  plan.envp.push_back(nullptr);

  plan.fds = options.fds;
  plan.kept = {0, 1, 2};
  for (const FdMapping& mapping : options.fds) {
    TENSMITH_ICHECK(mapping.child_fd >= 0, "a descriptor of a child is negative");
    plan.kept.push_back(mapping.child_fd);
    plan.first_free = std::max(plan.first_free, mapping.child_fd + 1);
  }
  std::sort(plan.kept.begin(), plan.kept.end());
  plan.kept.erase(std::unique(plan.kept.begin(), plan.kept.end()), plan.kept.end());
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    plan.descriptor_limit = static_cast<int>(std::min<rlim_t>(files.rlim_cur, 65536));
  }
  plan.parent = ::getpid();
  plan.die_with_parent = options.die_with_parent;
  plan.core_dumps = options.core_dumps;
  plan.address_space_bytes = options.address_space_bytes;
  return plan;
}

[[noreturn]] void fail_spawn(const SpawnOptions& options, int error) {
  const std::string& name = options.argv[0];
  const std::string text = fmt::format("cannot start {}: {}", name, std::strerror(error));
  switch (error) {
    case EAGAIN: throw WorkError(text, "the limit of processes is reached (ulimit -u)");
    case ENOMEM: throw WorkError(text, "the machine is out of memory");
    case EMFILE:
    case ENFILE: throw WorkError(text, "raise the limit of open files (ulimit -n)");
    case ENOENT: throw ProgramError(fmt::format("cannot start {}: no such program", name), "check the path or $PATH");
    case EACCES: throw ProgramError(text, "the file must be executable");
    default: throw ProgramError(text);
  }
}

const char* signal_name(int signal) {
  switch (signal) {
    case SIGHUP: return "SIGHUP";
    case SIGINT: return "SIGINT";
    case SIGQUIT: return "SIGQUIT";
    case SIGILL: return "SIGILL";
    case SIGTRAP: return "SIGTRAP";
    case SIGABRT: return "SIGABRT";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGKILL: return "SIGKILL";
    case SIGSEGV: return "SIGSEGV";
    case SIGPIPE: return "SIGPIPE";
    case SIGALRM: return "SIGALRM";
    case SIGTERM: return "SIGTERM";
    case SIGXCPU: return "SIGXCPU";
    case SIGXFSZ: return "SIGXFSZ";
    case SIGSYS: return "SIGSYS";
    default: return nullptr;
  }
}

void sleep_seconds(double seconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
  ::nanosleep(&time, nullptr);
}

// True when the child has ended; it stays a zombie, so that its number cannot belong to anybody else yet.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    // ECHILD: the process ignores SIGCHLD, or somebody else took the status.
    if (errno != EINTR) return true;
  }
  return info.si_pid == pid;
}

UniqueFd memory_file(const char* name) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file.valid()) {
    throw WorkError(fmt::format("cannot make a file in memory: {}", std::strerror(errno)),
                    "raise the limit of open files (ulimit -n)");
  }
  return file;
}

std::string contents_of(const UniqueFd& file) {
  std::string contents;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::pread(file.get(), buffer.data(), buffer.size(), static_cast<off_t>(contents.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return contents;
    contents.append(buffer.data(), static_cast<size_t>(got));
  }
}

}  // namespace

bool ExitStatus::ended_from_outside() const {
  return !exited && (signal == SIGKILL || signal == SIGTERM || signal == SIGHUP || signal == SIGINT);
}

std::string ExitStatus::describe() const {
  if (exited) return fmt::format("exited with {}", code);
  if (signal == 0) return "ended without a status";
  const char* name = signal_name(signal);
  return name != nullptr ? fmt::format("killed by signal {} ({})", signal, name)
                         : fmt::format("killed by signal {}", signal);
}

Subprocess Subprocess::spawn(const SpawnOptions& options) {
  ChildPlan plan = make_plan(options);
  UniqueFd null_input;
  const bool maps_input = std::any_of(options.fds.begin(), options.fds.end(),
                                      [](const FdMapping& mapping) { return mapping.child_fd == 0; });
  if (!maps_input) {
    null_input.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null_input.valid()) fail_spawn(options, errno);
    plan.fds.push_back({null_input.get(), 0});
  }
  plan.moved.resize(plan.fds.size());
  FdPair report = make_pipe();
  plan.error_fd = report.second.get();

  // No handler of ours may run in the child before it has put the defaults back.
  sigset_t all;
  sigset_t old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  const pid_t pid = ::fork();
  if (pid == 0) run_child(plan);
  const int fork_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  if (pid < 0) fail_spawn(options, fork_error);
  // In both processes, so that the group exists whichever runs first.
  ::setpgid(pid, pid);

  report.second.reset();
  int error = 0;
  if (read_exact(report.first.get(), &error, sizeof(error)) == ReadResult::kDone) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    fail_spawn(options, error);
  }
  return Subprocess(pid);
}

Subprocess::Subprocess(Subprocess&& other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ <= 0 || status_) return;
  kill(SIGKILL);
  wait();
}

void Subprocess::kill(int signal) {
  if (pid_ <= 0 || status_) return;
  if (::kill(-pid_, signal) != 0) ::kill(pid_, signal);
}

void Subprocess::finish() {
  ::kill(-pid_, SIGKILL);
  int raw = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(pid_, &raw, 0);
  } while (got < 0 && errno == EINTR);
  ExitStatus status;
  if (got == pid_ && WIFEXITED(raw)) {
    status.exited = true;
    status.code = WEXITSTATUS(raw);
  } else if (got == pid_ && WIFSIGNALED(raw)) {
    status.signal = WTERMSIG(raw);
  }
  status_ = status;
}

std::optional<ExitStatus> Subprocess::wait_for(double timeout_seconds) {
  TENSMITH_ICHECK(pid_ > 0, "waiting for no child");
  if (status_) return status_;
  const double deadline = steady_seconds() + timeout_seconds;
  UniqueFd handle;
#ifdef SYS_pidfd_open
  if (timeout_seconds > 0.0 && !has_ended(pid_)) handle.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
#endif
  double pause = 0.0002;
  while (!has_ended(pid_)) {
    const double left = deadline - steady_seconds();
    if (left <= 0.0) return std::nullopt;
    if (handle.valid()) {
      pollfd entry{handle.get(), POLLIN, 0};
      ::poll(&entry, 1, static_cast<int>(std::min(std::ceil(left * 1e3), 1e9)));
    } else {
      // An old kernel has no descriptor to wait on.
      sleep_seconds(std::min(pause, left));
      pause = std::min(pause * 1.5, 0.01);
    }
  }
  finish();
  return status_;
}

ExitStatus Subprocess::wait() {
  TENSMITH_ICHECK(pid_ > 0, "waiting for no child");
  while (!status_) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) == 0 || errno != EINTR) finish();
  }
  return *status_;
}

CapturedRun run_captured(SpawnOptions options, double timeout_seconds, const std::string& input) {
  for (const FdMapping& mapping : options.fds) {
    TENSMITH_ICHECK(mapping.child_fd > 2, "a captured run maps the standard descriptors itself");
  }
  // Files in memory instead of pipes: nobody has to read while the child writes, and a grandchild that keeps them open
  // holds up nothing.
  const UniqueFd in = memory_file("stdin");
  const UniqueFd out = memory_file("stdout");
  const UniqueFd err = memory_file("stderr");
  if (const int error = write_all(in.get(), input)) {
    throw WorkError(fmt::format("cannot store a child's input: {}", std::strerror(error)));
  }
  ::lseek(in.get(), 0, SEEK_SET);
  options.fds.push_back({in.get(), 0});
  options.fds.push_back({out.get(), 1});
  options.fds.push_back({err.get(), 2});

  CapturedRun run;
  Subprocess child = Subprocess::spawn(options);
  if (timeout_seconds < 0.0) {
    run.status = child.wait();
  } else if (const auto status = child.wait_for(timeout_seconds)) {
    run.status = *status;
  } else {
    run.timed_out = true;
    child.kill();
    run.status = child.wait();
  }
  run.out = contents_of(out);
  run.err = contents_of(err);
  return run;
}

}  // namespace tensmith
