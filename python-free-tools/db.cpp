#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "options.h"
#include "output.h"
#include "recorded.h"
#include "table.h"
#include "tensmith/explore/database_tools.h"
#include "tensmith/ops/workload.h"
#include "tensmith/support/error.h"
#include "tensmith/support/file.h"
#include "verbs.h"
#include "workload_names.h"
#include "workloads.h"

namespace tensmith::cli {
namespace {

/// Our records as they are, or as the space of one key in the format of another tool.
enum class ExportForm : uint8_t { kJsonLines, kCsv, kKernelTuner, kT4 };

struct Options {
  std::string db;
  std::vector<std::string> files;
  std::string output;
  ExportForm form = ExportForm::kJsonLines;
  RecordFilter records;  ///< of what is exported as a space
  bool json = false;
};

std::string speed(const RecordKey& key, double seconds) {
  double flops = 0;
  try {
    flops = flop_count(parse_workload(key.workload));
  } catch (const UserError&) {
    // An operator of another version: its time is all that can be told.
  }
  return speed_text(flops, seconds);
}

void stats(const Options& options) {
  const Database database(options.db);
  const DatabaseStats all = database_stats(database);
  const WorkloadNames names(database.keys());
  if (options.json) {
    nlohmann::json keys = nlohmann::json::array();
    for (const KeyStats& k : all.keys) {
      keys.push_back({{"workload", k.key.workload},
                      {"name", names.name(k.key.workload)},
                      {"target", k.key.target_kind},
                      {"cpu", k.key.cpu},
                      {"threads", k.key.threads},
                      {"flushed", k.key.flushed},
                      {"trials", k.trials},
                      {"valid", k.by_status[0]},
                      {"best_seconds", k.best_seconds}});
    }
    emit_result({{"records", all.records},
                 {"trials", all.trials},
                 {"valid", all.valid_trials},
                 {"damaged_lines", all.damaged_lines},
                 {"keys", keys}});
    return;
  }
  Table table({"key", "trials", "valid", "fastest trial"});
  for (const KeyStats& k : all.keys) {
    table.add({names.text(k.key), fmt::format("{}", k.trials), fmt::format("{}", k.by_status[0]),
               speed(k.key, k.best_seconds)});
  }
  emit_text(fmt::format(
      "{}{} records, {} trials, {} valid, {} damaged lines skipped; db best tells what won the comparisons\n",
      table.text(), all.records, all.trials, all.valid_trials, all.damaged_lines));
}

void best(const Options& options) {
  const Database database(options.db);
  const std::vector<KeyBest> all = database_best(database);
  const WorkloadNames names(database.keys());
  if (options.json) {
    nlohmann::json results = nlohmann::json::array();
    for (const KeyBest& b : all) {
      results.push_back({{"workload", b.key.workload},
                         {"name", names.name(b.key.workload)},
                         {"cpu", b.key.cpu},
                         {"threads", b.key.threads},
                         {"confirmed", b.confirmed},
                         {"seconds", b.record.best_seconds()},
                         {"knobs", knobs_to_string(b.record)}});
    }
    emit_result({{"results", results}});
    return;
  }
  std::string text;
  for (const KeyBest& b : all) {
    text += fmt::format("{}\n  {}{}: {}\n", names.text(b.key), speed(b.key, b.record.best_seconds()),
                        b.confirmed ? "" : " (not confirmed)", knobs_to_string(b.record));
  }
  emit_text(text);
}

void report(const Options& options, const ImportReport& report) {
  if (options.json) {
    emit_result({{"added", report.added}, {"duplicates", report.duplicates}, {"damaged", report.damaged}});
  } else {
    emit_text(fmt::format("{} records added, {} there already, {} damaged\n", report.added, report.duplicates,
                          report.damaged));
  }
}

void import(const Options& options) {
  Database database(options.db, Database::Missing::kIsEmpty);
  ImportReport total;
  for (const std::string& file : options.files) {
    const ImportReport one = import_records(database, file);
    total.added += one.added;
    total.duplicates += one.duplicates;
    total.damaged += one.damaged;
  }
  report(options, total);
}

void merge(const Options& options) {
  const std::vector<std::filesystem::path> paths(options.files.begin(), options.files.end());
  report(options, merge_databases(paths, options.output));
}

RecordedSpace one_space(const Options& options, SpaceFormat format) {
  std::vector<RecordedSpace> spaces = spaces_of_database(options.db, options.records, format);
  if (spaces.size() > 1) {
    std::string names;
    for (const RecordedSpace& space : spaces) names += (names.empty() ? "" : "; ") + space.info().name;
    throw UserError(
        fmt::format("{}: a file of this format holds one space, and {} are there", options.db, spaces.size()),
        "choose by --workload, --threads, --cpu and --flushed: " + names);
  }
  return std::move(spaces.front());
}

std::string export_text(const Options& options) {
  switch (options.form) {
    case ExportForm::kJsonLines: return export_records(Database(options.db), ExportFormat::kJsonLines);
    case ExportForm::kCsv: return export_records(Database(options.db), ExportFormat::kCsv);
    case ExportForm::kKernelTuner:
    case ExportForm::kT4: break;
  }
  const SpaceFormat format = options.form == ExportForm::kT4 ? SpaceFormat::kT4 : SpaceFormat::kKernelTuner;
  const RecordedSpace space = one_space(options, format);
  if (options.output.empty()) return print_space(space, format);
  save_space(space, options.output, format);
  return {};
}

void export_all(const Options& options) {
  refuse_to_overwrite("-o", options.output, {options.db});
  const bool records = options.form == ExportForm::kJsonLines || options.form == ExportForm::kCsv;
  if (records && !options.records.empty()) {
    throw UserError("--workload, --threads, --cpu and --flushed choose a space; jsonl and csv hold all records",
                    "leave them out, or give --format=kernel-tuner or t4");
  }
  const std::string text = export_text(options);
  if (records && !options.output.empty()) write_file(options.output, text);
  if (options.json) {
    emit_result(options.output.empty() ? nlohmann::json{{"text", text}} : nlohmann::json{{"file", options.output}});
  } else if (options.output.empty()) {
    emit_text(text);
  }
}

}  // namespace

void add_db(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand("db", "look at and combine databases of measurements");
  verb->require_subcommand(1);
  const auto with_db = [&](CLI::App* sub) {
    sub->add_option("--db", options->db, "database")->required();
    sub->add_flag("--json", options->json, "one JSON object on standard output");
    return sub;
  };
  with_db(verb->add_subcommand("stats", "what it holds"))->callback([options] { stats(*options); });
  with_db(verb->add_subcommand("best", "the best config of each workload"))->callback([options] { best(*options); });
  CLI::App* import_verb = verb->add_subcommand("import", "append the records of other files that are not there yet");
  import_verb->add_option("--db", options->db, "database")->required();
  import_verb->add_option("files", options->files, "files to take records from")->required();
  import_verb->add_flag("--json", options->json, "one JSON object on standard output");
  import_verb->callback([options] { import(*options); });
  CLI::App* merge_verb = verb->add_subcommand("merge", "combine several databases into one");
  merge_verb->add_option("files", options->files, "databases")->required();
  merge_verb->add_option("-o,--output", options->output, "the database to make or extend")->required();
  merge_verb->add_flag("--json", options->json, "one JSON object on standard output");
  merge_verb->callback([options] { merge(*options); });
  CLI::App* export_verb = with_db(verb->add_subcommand("export", "all records as text, or one space for other tools"));
  enum_option<ExportForm>(*export_verb, "--format", options->form,
                          {{"jsonl", ExportForm::kJsonLines},
                           {"csv", ExportForm::kCsv},
                           {"kernel-tuner", ExportForm::kKernelTuner},
                           {"t4", ExportForm::kT4}},
                          "all records (jsonl, csv), or the trials of one workload as other tools keep a space");
  options->records.add_to(*export_verb, "--threads");
  export_verb->add_option("-o,--output", options->output, "file (default: standard output)");
  export_verb->callback([options] { export_all(*options); });
}

}  // namespace tensmith::cli
