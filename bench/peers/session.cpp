#include "session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "environment.h"
#include "tensmith/support/error.h"
#include "timing.h"

namespace tensmith::peers {
namespace {

using nlohmann::json;

constexpr double kMostNaiveFlops = 2e9;

json failure(std::string_view error) { return {{"ok", false}, {"error", error}}; }

// Largest error relative to the tolerance of float32 results: 4 eps sqrt(K) max|ref| + 1e-6.
struct Comparison {
  double error = 0;
  double tolerance = 0;
};

Comparison compare(const std::vector<float>& values, const std::vector<float>& reference, std::int64_t terms) {
  if (values.size() != reference.size()) {
    throw WorkError(fmt::format("{} output elements, expected {}", values.size(), reference.size()));
  }
  Comparison result;
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(static_cast<double>(values[i]) - static_cast<double>(reference[i]));
    result.error = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(result.error, error);
    largest = std::max(largest, std::abs(static_cast<double>(reference[i])));
  }
  const double epsilon = std::numeric_limits<float>::epsilon();
  result.tolerance = 4 * epsilon * std::sqrt(static_cast<double>(terms)) * largest + 1e-6;
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

Session::Session(const Settings& settings, std::vector<int> cpus) : settings_(settings), cpus_(std::move(cpus)) {}
Session::~Session() = default;

json Session::answer(std::string_view line) {
  line = trimmed(line);
  const std::string_view command = line.substr(0, line.find(' '));
  const std::string_view rest = trimmed(line.substr(command.size()));
  try {
    if (command == "prepare") return prepare(rest);
    if (command == "run") return run(rest);
    if (command == "check") return check();
    if (command == "quit") return nullptr;
    return failure(fmt::format("unknown command \"{}\": prepare, run, check and quit are known", command));
  } catch (const std::exception& error) {
    return failure(error.what());
  }
}

json Session::prepare(std::string_view workload) {
  peer_ = nullptr;
  json object = json::parse(workload, nullptr, false);
  if (object.is_discarded()) return failure("prepare takes a JSON object");
  flush_ = false;
  if (object.is_object() && object.contains("flush")) {
    if (!object["flush"].is_boolean()) return failure("workload: flush must be true or false");
    flush_ = object["flush"];
    object.erase("flush");
  }
  problem_ = read_problem(object);
  auto peer = prepare_peer(settings_, problem_);
  // The first call starts the library's threads, which can then be placed.
  peer->run();
  const bool pinned = pin_every_thread(cpus_);
  peer_ = std::move(peer);
  return {{"ok", true},
          {"peer", peer_name(settings_.peer)},
          {"version", peer_->version},
          {"kernel", peer_->kernel},
          {"layouts", peer_->layouts},
          {"threads", peer_->threads},
          {"process_threads", count_threads()},
          {"pinned", pinned},
          {"flush", flush_},
          {"flops", problem_.flops()}};
}

json Session::run(std::string_view seconds) {
  double min_seconds = 0;
  const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), min_seconds);
  if (error != std::errc() || end != seconds.data() + seconds.size() || !(min_seconds >= 0) || min_seconds > 3600) {
    return failure("run takes a number of seconds, 0 to 3600");
  }
  const Round round = time_round(prepared(), min_seconds, flush_);
  return {{"ok", true},
          {"seconds_min", round.seconds_min},
          {"seconds_median", round.seconds_median},
          {"repeats", round.repeats},
          {"calls", round.calls}};
}

json Session::check() {
  PreparedPeer& peer = prepared();
  if (problem_.flops() > kMostNaiveFlops) return failure("too large for a naive computation");
  peer.run();
  const Comparison comparison = compare(peer.output(), naive_result(problem_), problem_.reduction_length());
  return {{"ok", true},
          {"correct", comparison.error <= comparison.tolerance},
          {"max_error", comparison.error},
          {"tolerance", comparison.tolerance}};
}

PreparedPeer& Session::prepared() {
  if (peer_ == nullptr) throw UserError("nothing is prepared");
  return *peer_;
}

}  // namespace tensmith::peers
