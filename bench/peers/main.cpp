// tensmith-peer: times one peer library in a process of its own. README.md describes the protocol.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "environment.h"
#include "peer.h"
#include "session.h"
#include "tensmith/runtime/runtime.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith::peers {
namespace {

struct Options {
  std::string peer;
  int threads = 1;
  std::vector<int> cpus;
  bool no_pin = false;
  bool list = false;
};

// The first CPUs of different cores, or fewer when there are not so many.
std::vector<int> default_cpus(int threads) {
  std::vector<int> cpus = allowed_physical_cores();
  if (static_cast<std::size_t>(threads) > cpus.size()) cpus = allowed_cpus();
  cpus.resize(std::min(cpus.size(), static_cast<std::size_t>(threads)));
  return cpus;
}

void list_peers() {
  nlohmann::json names = nlohmann::json::array();
  for (const PeerKind kind : built_in_peers()) names.push_back(peer_name(kind));
  std::cout << nlohmann::json{{"peers", names}}.dump() << std::endl;
}

void serve(Session& session) {
  std::string line;
  while (std::getline(std::cin, line)) {
    const nlohmann::json answer = session.answer(line);
    if (answer.is_null()) return;
    // Names of kernels come from elsewhere; whatever bytes they hold, the answer is valid JSON.
    std::cout << answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  }
}

int run(const Options& options, char** argv) {
  if (options.list) {
    list_peers();
    return 0;
  }
  const auto kind = peer_from_name(options.peer);
  const auto built_in = built_in_peers();
  if (!kind || std::find(built_in.begin(), built_in.end(), *kind) == built_in.end()) {
    std::cerr << "tensmith-peer: error: this build has no peer \"" << options.peer
              << "\" (--list shows those it has)\n";
    return 2;
  }
  const Settings settings{*kind, options.threads};
  std::vector<int> cpus;
  if (!options.no_pin) cpus = options.cpus.empty() ? default_cpus(options.threads) : options.cpus;
  settle_environment(settings, cpus, argv);
  tensmith_set_flush_to_zero(1);
  pin_every_thread(cpus);
  Session session(settings, cpus);
  serve(session);
  return 0;
}

}  // namespace
}  // namespace tensmith::peers

int main(int argc, char** argv) {
  tensmith::peers::Options options;
  CLI::App app("Times a peer library; reads commands on standard input, answers each with a line of JSON.",
               "tensmith-peer");
  app.add_option("--peer", options.peer, "onednn, openblas or eigen");
  app.add_option("--threads", options.threads, "threads of the library")->check(CLI::Range(1, 1024));
  app.add_option("--cpus", options.cpus, "CPUs for the threads, by default the first of different cores")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023));
  app.add_flag("--no-pin", options.no_pin, "leave the placing of threads to the system");
  app.add_flag("--list", options.list, "print the peers of this build as JSON and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::cerr << "tensmith-peer: error: " << error.what() << "\n";
    return 2;
  }
  try {
    return tensmith::peers::run(options, argv);
  } catch (const std::exception& error) {
    std::cerr << "tensmith-peer: error: " << error.what() << "\n";
    return 1;
  }
}
