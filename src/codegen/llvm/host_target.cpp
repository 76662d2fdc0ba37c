#include "tensmith/codegen/llvm/host_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "codegen/llvm/target_machine.h"
#include "codegen/llvm/x86_features.h"
#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {

namespace {

using FeatureMap = llvm::StringMap<bool>;

/// " did you mean 'a', 'b' or 'c'?" in words, from the nearest candidates; `fallback` when none is near.
std::string suggestion(std::string_view word, std::vector<std::string> candidates, std::string fallback) {
  std::vector<std::string> near;
  while (near.size() < 3) {
    const std::optional<std::string> match = closest_match(word, candidates);
    if (!match) break;
    near.push_back("'" + *match + "'");
    std::erase(candidates, *match);
  }
  if (near.empty()) return fallback;
  return fmt::format("did you mean {}?", fmt::join(near, " or "));
}

/// The CPU names and features that LLVM knows for a triple.
class Known {
 public:
  explicit Known(const std::string& triple) {
    const llvm::Target& backend = llvm_target(triple);
    info_.reset(backend.createMCSubtargetInfo(triple, "", ""));
    x86_ = llvm::Triple(triple).isX86();
  }

  bool x86() const { return x86_; }
  const llvm::MCSubtargetInfo& info() const { return *info_; }

  std::vector<std::string> cpus() const {
    std::vector<std::string> names;
    if (x86_) {
      llvm::SmallVector<llvm::StringRef, 128> values;
      llvm::X86::fillValidCPUArchList(values, /*Only64Bit=*/true);
      for (llvm::StringRef v : values) {
        if (info_->isCPUStringValid(v)) names.push_back(v.str());
      }
    } else {
      for (const llvm::SubtargetSubTypeKV& cpu : info_->getAllProcessorDescriptions()) names.emplace_back(cpu.Key);
    }
    return names;
  }

  std::vector<std::string> features() const {
    std::vector<std::string> names;
    for (const llvm::SubtargetFeatureKV& feature : info_->getAllProcessorFeatures()) names.emplace_back(feature.Key);
    return names;
  }

 private:
  std::unique_ptr<llvm::MCSubtargetInfo> info_;
  bool x86_ = false;
};

struct Request {
  std::string cpu = "native";
  std::vector<std::pair<std::string, bool>> features;  // name, wanted
};

/// Takes "+a-b+c" apart. Names may hold '-' ("amx-tile"), so the longest known name wins.
void parse_features(std::string_view text, const Known& known, Request& request) {
  const std::vector<std::string> names = known.features();
  while (!text.empty()) {
    const char sign = text.front();
    const std::string_view rest = text.substr(1);
    if (sign != '+' && sign != '-') {
      throw UserError(fmt::format("in mattr, '{}' does not start with '+' or '-'", text),
                      fmt::format("write +{} to add the feature, -{} to remove it", text, text));
    }
    std::string_view best;
    for (const std::string& name : names) {
      if (name.size() > best.size() && rest.starts_with(name) &&
          (rest.size() == name.size() || rest[name.size()] == '+' || rest[name.size()] == '-')) {
        best = rest.substr(0, name.size());
      }
    }
    if (best.empty()) {
      const std::string_view word = rest.substr(0, rest.find_first_of("+"));
      throw UserError(fmt::format("unknown CPU feature '{}'", word),
                      suggestion(word, names, "'llc -mattr=help' lists LLVM's names"));
    }
    request.features.emplace_back(std::string(best), sign == '+');
    text = rest.substr(best.size());
  }
}

Request parse_request(std::string_view text, const Known& known) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (kind != "llvm") {
    throw UserError(fmt::format("unknown target kind '{}' in '{}'", kind, text),
                    suggestion(kind, {"llvm"}, "the known kind is 'llvm'"));
  }
  Request request;
  if (colon == std::string_view::npos) return request;
  bool in_mattr = false;
  for (std::string_view item : split_string(text.substr(colon + 1), ',')) {
    item = trim(item);
    if (in_mattr && !item.empty() && (item.front() == '+' || item.front() == '-')) {
      parse_features(item, known, request);
      continue;
    }
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw UserError(fmt::format("'{}' in target '{}' is not key=value", item, text),
                      "write llvm:mcpu=NAME,mattr=+FEATURE");
    }
    const std::string_view key = item.substr(0, equals);
    const std::string_view value = item.substr(equals + 1);
    in_mattr = key == "mattr";
    if (value.empty()) {
      throw UserError(fmt::format("key '{}' in target '{}' has no value", key, text),
                      "leave the key out or name a value");
    }
    if (key == "mcpu") {
      request.cpu = std::string(value);
    } else if (key == "mattr") {
      parse_features(value, known, request);
    } else {
      throw UserError(fmt::format("unknown key '{}' in target '{}'", key, text),
                      suggestion(key, {"mcpu", "mattr"}, "the known keys are 'mcpu' and 'mattr'"));
    }
  }
  return request;
}

/// Features of a named CPU and what they imply, which LLVM's list leaves out ("avx2" stands for "avx" too).
FeatureMap x86_cpu_features(const std::string& cpu) {
  llvm::SmallVector<llvm::StringRef, 64> names;
  llvm::X86::getFeaturesForCPU(cpu, names);
  FeatureMap features;
  for (llvm::StringRef name : names) {
    features[name] = true;
    llvm::X86::updateImpliedFeatures(name, true, features);
  }
  return features;
}

/// This machine's features with everything it lacks set to false.
FeatureMap host_features() { return llvm::sys::getHostCPUFeatures(); }

bool has(const FeatureMap& features, llvm::StringRef name) {
  auto it = features.find(name);
  return it != features.end() && it->second;
}

/// Whether a feature only tells LLVM which of several codes to prefer, so that any CPU runs it ("prefer-256-bit").
bool is_preference(std::string_view name) {
  return name.starts_with("prefer-") || name.starts_with("fast-") || name.starts_with("slow-") ||
         name.starts_with("false-deps-");
}

struct CacheDefaults {
  std::vector<std::string_view> cpus;
  int64_t l1, l2, l3;
};

/// Usual cache sizes in KiB; l3 is what one core may hope for, not the chip's total.
void fill_named_caches(Target& target) {
  static const CacheDefaults kTable[] = {
      {{"skylake-avx512", "skx", "cascadelake", "cooperlake"}, 32, 1024, 16384},
      {{"icelake-server", "icelake-client", "rocketlake", "tigerlake"}, 48, 1280, 24576},
      {{"sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d"}, 48, 2048, 32768},
      {{"alderlake", "raptorlake", "meteorlake", "arrowlake", "lunarlake"}, 48, 1280, 16384},
      {{"znver1", "znver2", "znver3"}, 32, 512, 16384},
      {{"znver4", "znver5"}, 32, 1024, 32768},
      {{"haswell", "broadwell", "skylake", "ivybridge", "sandybridge", "x86-64-v3"}, 32, 256, 8192},
      {{"x86-64-v4"}, 32, 1024, 16384},
  };
  target.l1_bytes = 32 << 10;
  target.l2_bytes = 512 << 10;
  target.l3_bytes = 8 << 20;
  for (const CacheDefaults& row : kTable) {
    if (std::find(row.cpus.begin(), row.cpus.end(), target.cpu) != row.cpus.end()) {
      target.l1_bytes = row.l1 << 10;
      target.l2_bytes = row.l2 << 10;
      target.l3_bytes = row.l3 << 10;
    }
  }
}

void fill_caches(Target& target, bool host) {
  fill_named_caches(target);
  if (!host) return;
  const CacheSizes sizes = cache_sizes();
  if (sizes.l1d > 0) target.l1_bytes = sizes.l1d;
  if (sizes.l2 > 0) target.l2_bytes = sizes.l2;
  if (sizes.l3 > 0) target.l3_bytes = sizes.l3;
}

void fill_x86(Target& target, const FeatureMap& features, const FeatureMap& of_cpu, const Request& request) {
  for (const X86Feature& feature : x86_features()) {
    const llvm::StringRef name(feature.name.data(), feature.name.size());
    if (has(features, name)) {
      target.features.push_back("+" + name.str());
    } else if (has(of_cpu, name)) {
      target.features.push_back("-" + name.str());
    }
  }
  // What the user names is kept even where it cannot change what code is generated, so that the text round-trips.
  for (const auto& [name, wanted] : request.features) {
    const auto known = [&name = name](const X86Feature& f) { return f.name == name; };
    if (std::none_of(x86_features().begin(), x86_features().end(), known)) {
      target.features.push_back((wanted ? "+" : "-") + name);
    }
  }
  const auto by_name = [](const std::string& a, const std::string& b) {
    return std::string_view(a).substr(1) < std::string_view(b).substr(1);
  };
  std::stable_sort(target.features.begin(), target.features.end(), by_name);
  target.features.erase(std::unique(target.features.begin(), target.features.end()), target.features.end());

  const bool wide = has(features, "avx512f");
  target.vector_bytes = wide ? 64 : has(features, "avx") ? 32 : 16;
  target.vector_registers = wide ? 32 : 16;
  target.broadcast_operand = wide;
  target.fma = has(features, "fma") || has(features, "fma4") || wide;
}

}  // namespace

Target parse_target(std::string_view text) {
  Target target;
  target.triple = host_triple();
  const Known known(target.triple);
  const Request request = parse_request(text, known);

  const std::vector<std::string> cpus = known.cpus();
  std::string host_cpu = llvm::sys::getHostCPUName().str();
  if (known.x86() && std::find(cpus.begin(), cpus.end(), host_cpu) == cpus.end()) {
    // A CPU newer than this LLVM: its features, which are listed in full, say what it can do.
    host_cpu = "x86-64";
  }
  const bool native = request.cpu == "native";
  target.cpu = native ? host_cpu : request.cpu;
  if (!native && std::find(cpus.begin(), cpus.end(), target.cpu) == cpus.end()) {
    throw UserError(fmt::format("unknown CPU '{}' in target '{}'", target.cpu, text),
                    suggestion(target.cpu, cpus, "'tensmith targets' lists usual ones"));
  }
  fill_caches(target, native || target.cpu == host_cpu);

  if (!known.x86()) {
    for (const auto& [name, wanted] : request.features) target.features.push_back((wanted ? "+" : "-") + name);
    std::sort(target.features.begin(), target.features.end());
    target.vector_bytes = 16;
    target.vector_registers = 32;
    return target;
  }
  const FeatureMap of_cpu = x86_cpu_features(target.cpu);
  FeatureMap features = native ? host_features() : of_cpu;
  for (const auto& [name, wanted] : request.features) {
    features[name] = wanted;
    llvm::X86::updateImpliedFeatures(name, wanted, features);
  }
  fill_x86(target, features, of_cpu, request);
  return target;
}

bool runs_on_host(const Target& target, std::string* why) {
  const auto fail = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return false;
  };
  const llvm::Triple host(host_triple());
  if (!target.triple.empty() && llvm::Triple(target.triple).getArch() != host.getArch()) {
    return fail(fmt::format("this machine is {}, the target is {}", host.getArchName().str(), target.triple));
  }
  if (!host.isX86()) {
    return target.cpu == llvm::sys::getHostCPUName() || fail("this machine's CPU is another");
  }
  const FeatureMap mine = host_features();
  std::vector<std::string_view> missing;
  for (const std::string& feature : target.features) {
    const std::string_view name = std::string_view(feature).substr(1);
    if (feature.front() == '+' && !is_preference(name) && !has(mine, llvm::StringRef(name.data(), name.size()))) {
      missing.push_back(name);
    }
  }
  if (missing.empty()) return true;
  return fail(
      fmt::format("this machine's CPU ({}) lacks {}", llvm::sys::getHostCPUName().str(), fmt::join(missing, ", ")));
}

std::vector<TargetInfo> list_targets() {
  struct Row {
    const char* cpu;
    const char* note;
  };
  static constexpr Row kUsual[] = {
      {"x86-64", "any 64-bit x86"},
      {"x86-64-v2", "SSE4.2"},
      {"x86-64-v3", "AVX2 and FMA"},
      {"haswell", "Intel 2013, AVX2"},
      {"skylake", "Intel 2015, AVX2"},
      {"x86-64-v4", "AVX-512"},
      {"skylake-avx512", "Intel Xeon 2017, AVX-512"},
      {"cascadelake", "Intel Xeon 2019, AVX-512 with VNNI"},
      {"icelake-server", "Intel Xeon 2021, AVX-512 with VNNI"},
      {"sapphirerapids", "Intel Xeon 2023, AVX-512 and AMX"},
      {"znver2", "AMD Zen 2, AVX2"},
      {"znver3", "AMD Zen 3, AVX2"},
      {"znver4", "AMD Zen 4, AVX-512"},
      {"znver5", "AMD Zen 5, AVX-512"},
  };
  std::vector<TargetInfo> out;
  out.push_back({parse_target("llvm"), "this machine", true});
  if (!llvm::Triple(host_triple()).isX86()) return out;
  for (const Row& row : kUsual) {
    TargetInfo info{parse_target(fmt::format("llvm:mcpu={}", row.cpu)), row.note, false};
    info.runs_here = runs_on_host(info.target);
    out.push_back(std::move(info));
  }
  return out;
}

}  // namespace tensmith
