#include "tensmith/operator/tune_kernel.h"

#include <algorithm>
#include <climits>
#include <utility>

#include <fmt/format.h>

#include "tensmith/codegen/llvm/host_target.h"
#include "tensmith/explore/kernel/kernel_space.h"
#include "tensmith/explore/recorded/record_space.h"
#include "tensmith/support/error.h"
#include "tensmith/support/sysinfo.h"

namespace tensmith {
namespace {

/// Trials of kernels in C that a search asks for before it learns how they went.
constexpr int kMostAtOnce = 8;

/// Keeps what passes through.
class KeepingSink : public RecordSink {
 public:
  KeepingSink(Database* database, std::vector<Record>& kept) : database_(database), kept_(kept) {}
  void add(std::span<const Record> records) override {
    kept_.insert(kept_.end(), records.begin(), records.end());
    if (database_ != nullptr) database_->add(records);
  }
  std::vector<Record> news(const RecordKey& key) override {
    if (database_ == nullptr) return {};
    std::vector<Record> news = database_->news(key);
    kept_.insert(kept_.end(), news.begin(), news.end());
    return news;
  }

 private:
  Database* database_;
  std::vector<Record>& kept_;
};

}  // namespace

TunedKernel tune_kernel(const KernelSpec& spec, const ConfigSpace& space, const Config& default_config,
                        const KernelReference& reference, Database* database, const TuneKernelSettings& settings) {
  TunedKernel tuned;
  KernelMeasurerOptions measuring = settings.measuring;
  measuring.seed = settings.seed;
  const KernelPlace place = find_kernel_place(spec, measuring);
  tuned.key.workload = spec.identity();
  tuned.key.target_kind = std::string(to_string(spec.language));
  tuned.device = place.device;
  // The compiler makes code for this CPU, by whose name other records are kept too.
  tuned.key.cpu = spec.language == KernelLanguage::kC ? parse_target("llvm").cpu : place.device;
  if (!place.compiler.empty()) {
    // Records keep features with commas between.
    std::string compiler = place.compiler;
    std::replace(compiler.begin(), compiler.end(), ',', ';');
    tuned.key.features.push_back("cc=" + compiler);
  }
  tuned.key.features.push_back("reference=" + reference_identity(reference, spec));
  tuned.key.features.push_back(measuring.tolerance ? fmt::format("tolerance={}", *measuring.tolerance)
                                                   : "tolerance=standard");
  tuned.key.threads = spec.language == KernelLanguage::kCuda ? 1 : measuring.threads;

  TuneTask task;
  task.space = &space;
  task.default_config = default_config;
  task.base.key = tuned.key;
  task.base.space = "kernel/1";
  task.base.cpu_model = cpu_model_name();
  task.base.tensmith_version = TENSMITH_VERSION;
  task.base.seed = settings.seed;
  task.base.strategy = settings.strategy;
  if (database != nullptr) {
    database->check_writable();
    task.history = database->records(tuned.key);
    tuned.records = task.history;
  }
  const StrategyOptions common{settings.seed, {default_config}};
  const std::unique_ptr<SearchStrategy> search =
      settings.search ? settings.search(space, common) : make_random_search(space, common);

  KernelMeasurer measurer(spec, space, reference, measuring);
  KeepingSink sink(database, tuned.records);
  TuneOptions options;
  options.trials = settings.trials;
  options.stop = settings.stop;
  options.time_budget_seconds = settings.time_budget_seconds;
  options.progress = settings.progress;
  // No model is worth more trials at once: only compilers gain, by running side by side.
  const int jobs = measuring.jobs > 0 ? measuring.jobs : static_cast<int>(allowed_cpus().size());
  options.batches = {{INT_MAX, spec.language == KernelLanguage::kC ? std::clamp(jobs, 1, kMostAtOnce) : 1}};
  tuned.result = tune(task, *search, measurer, &sink, options);
  std::erase_if(tuned.records, [&](const Record& r) { return r.space_fingerprint != space.fingerprint(); });
  return tuned;
}

RecordedSpace recorded_kernel(const ConfigSpace& space, const TunedKernel& tuned) {
  ConfigSpace product;
  for (const Knob& knob : space.knobs()) product.add(knob);
  return space_of_records(tuned.records, SpaceFormat::kKernelTuner, recorded_info(tuned.key, tuned.device),
                          std::move(product));
}

}  // namespace tensmith
