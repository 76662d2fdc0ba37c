#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tensmith/support/subprocess.h"

namespace tensmith {

/// Runs the program `tensmith` to its end.
inline CapturedRun run_tensmith(std::vector<std::string> arguments, double timeout = 120) {
  SpawnOptions options;
  options.argv = {TENSMITH_PROGRAM};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  return run_captured(options, timeout);
}

/// Runs a shell script, in which $T is the program `tensmith` and $D a directory.
inline CapturedRun run_script(const std::string& script, const std::string& directory = {}) {
  SpawnOptions options;
  options.argv = {"/bin/sh", "-c", script};
  options.environment = {"T=" TENSMITH_PROGRAM, "D=" + directory};
  return run_captured(options, 120);
}

/// The one JSON object on standard output.
inline nlohmann::json json_of(const CapturedRun& run) { return nlohmann::json::parse(run.out, nullptr, false); }

}  // namespace tensmith
