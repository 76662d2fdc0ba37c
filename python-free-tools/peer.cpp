#include "peer.h"

#include <unistd.h>

#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "tensmith/support/error.h"
#include "tensmith/support/fd.h"
#include "tensmith/support/subprocess.h"

namespace tensmith::cli {
namespace {

constexpr double kPrepareSeconds = 120;
constexpr double kRunSeconds = 120;

std::string epilogue_text(Epilogue epilogue) {
  static constexpr std::array kNames = {"none", "bias", "relu", "bias+relu"};
  return kNames[static_cast<size_t>(epilogue)];
}

nlohmann::json problem(const Conv2d& c) {
  return {{"op", "conv2d"},
          {"n", c.n},
          {"c", c.c},
          {"h", c.h},
          {"w", c.w},
          {"k", c.k},
          {"r", c.r},
          {"s", c.s},
          {"stride_h", c.stride_h},
          {"stride_w", c.stride_w},
          {"dil_h", c.dilation_h},
          {"dil_w", c.dilation_w},
          {"pad_t", c.pad_top},
          {"pad_l", c.pad_left},
          {"pad_b", c.pad_bottom},
          {"pad_r", c.pad_right},
          {"layout", c.layout == ActivationLayout::kNchw ? "nchw" : "nchw16c"},
          {"weights", c.weights == WeightsForm::kPacked ? "packed" : "plain"},
          {"epilogue", epilogue_text(c.epilogue)},
          {"type", to_string(c.type)}};
}

nlohmann::json problem(const Matmul& m) {
  return {{"op", "matmul"},
          {"m", m.m},
          {"n", m.n},
          {"k", m.k},
          {"ta", m.ta ? 1 : 0},
          {"tb", m.tb ? 1 : 0},
          {"epilogue", epilogue_text(m.epilogue)},
          {"type", to_string(m.type)}};
}

nlohmann::json problem(const FreeExpression&) { throw WorkError("no library computes a free expression"); }

std::string peer_program() {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path peer = own.parent_path() / "tensmith-peer";
  if (error || !std::filesystem::exists(peer)) {
    throw WorkError(fmt::format("'{}' is not there", peer.string()),
                    "build it with -DTENSMITH_BUILD_BENCHMARKS=ON and the libraries installed");
  }
  return peer.string();
}

}  // namespace

struct Peer::Impl {
  std::string name;
  std::string description;
  UniqueFd input;   ///< its standard input
  UniqueFd output;  ///< its standard output
  std::optional<Subprocess> process;

  /// Tells how the process ended, or else what was wrong.
  [[noreturn]] void fail(const std::string& what) {
    constexpr double kEndSeconds = 0.5;
    const std::optional<ExitStatus> ended = process->wait_for(kEndSeconds);
    throw WorkError(fmt::format("peer {} {}", name, ended ? ended->describe() : what));
  }

  nlohmann::json command(const std::string& line, double timeout) {
    if (write_all(input.get(), line + "\n") != 0) {
      fail("is gone");
    }
    std::string answer;
    char c = 0;
    while (true) {
      const ReadResult result = read_exact(output.get(), &c, 1, timeout);
      if (result != ReadResult::kDone) {
        fail(fmt::format("does not answer '{}'", line.substr(0, line.find(' '))));
      }
      if (c == '\n') {
        break;
      }
      answer += c;
    }
    const nlohmann::json json = nlohmann::json::parse(answer, nullptr, false);
    if (json.is_discarded() || !json.is_object()) {
      throw WorkError(fmt::format("peer {} answers nonsense: {}", name, answer.substr(0, 200)));
    }
    if (!json.value("ok", false)) {
      throw WorkError(fmt::format("peer {}: {}", name, json.value("error", std::string("no reason given"))));
    }
    return json;
  }
};

Peer::Peer(const std::string& name, const Workload& workload, int threads, const std::vector<int>& cpus, bool flush)
    : impl_(std::make_unique<Impl>()) {
  impl_->name = name;
  nlohmann::json json = std::visit([](const auto& op) { return problem(op); }, workload.op);
  json["flush"] = flush;
  FdPair in = make_pipe(), out = make_pipe();
  SpawnOptions options;
  options.argv = {peer_program(), "--peer", name, "--threads", fmt::format("{}", threads)};
  if (!cpus.empty()) {
    options.argv.insert(options.argv.end(), {"--cpus", fmt::format("{}", fmt::join(cpus, ","))});
  }
  options.fds = {{in.first.get(), STDIN_FILENO}, {out.second.get(), STDOUT_FILENO}};
  options.die_with_parent = true;
  impl_->process = Subprocess::spawn(options);
  impl_->input = std::move(in.second);
  impl_->output = std::move(out.first);
  in.first.reset();
  out.second.reset();
  const nlohmann::json prepared = impl_->command("prepare " + json.dump(), kPrepareSeconds);
  impl_->description = fmt::format("{} {}", prepared.value("version", ""), prepared.value("kernel", ""));
}

Peer::~Peer() = default;
Peer::Peer(Peer&&) noexcept = default;

const std::string& Peer::name() const { return impl_->name; }
const std::string& Peer::description() const { return impl_->description; }

PeerRound Peer::run(double min_seconds) {
  const nlohmann::json json = impl_->command(fmt::format("run {}", min_seconds), kRunSeconds);
  return {json.value("seconds_min", 0.0), json.value("seconds_median", 0.0)};
}

}  // namespace tensmith::cli
