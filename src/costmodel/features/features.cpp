#include "tensmith/costmodel/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "costmodel/features/columns.h"
#include "costmodel/features/flat_context.h"
#include "costmodel/features/relation.h"
#include "costmodel/features/roles.h"
#include "costmodel/features/summary.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

template <typename Sink>
void write_columns(Sink& sink, const NestContext& nest, const Target& target, FeatureSet set) {
  const Roles roles = find_roles(nest);
  switch (set) {
    case FeatureSet::kLoopContext: write_flat_context(sink, nest, roles); return;
    case FeatureSet::kRelation: write_relations(sink, nest, roles); return;
    case FeatureSet::kDefault:
      write_summary(sink, summarize(nest, roles, target));
      write_relations(sink, nest, roles);
      return;
  }
  TENSMITH_UNREACHABLE("unknown feature set");
}

std::vector<std::string> make_names(FeatureSet set) {
  columns::NameSink sink;
  write_columns(sink, NestContext(), Target(), set);
  return sink.take();
}

}  // namespace

void relation_feature(std::span<const double> zi, std::span<const double> zj, std::span<double> out) {
  TENSMITH_ICHECK(zi.size() == zj.size() && out.size() == kRelationThresholds,
                  "one value a loop and one result a threshold");
  double result[kRelationThresholds];
  relate(
      zi.size(), [&](size_t k) { return zi[k]; }, [&](size_t k) { return threshold_above(zj[k]); }, result);
  std::copy(std::begin(result), std::end(result), out.begin());
}

float log_feature(double x) { return columns::log2_of_1_plus(x); }

std::span<const std::string> feature_names(FeatureSet set) {
  static const std::array<std::vector<std::string>, 3> names = {
      make_names(FeatureSet::kLoopContext), make_names(FeatureSet::kRelation), make_names(FeatureSet::kDefault)};
  return names[static_cast<size_t>(set)];
}

FeatureExtractor::FeatureExtractor(const Target& target, FeatureSet set)
    : set_(set), target_(target), size_(feature_names(set).size()) {}

void FeatureExtractor::extract(const Function& nest, std::span<float> out) {
  TENSMITH_ICHECK(out.size() == size_, fmt::format("room for {} features, not {}", size_, out.size()));
  context_ = &analyzer_.analyze(nest);
  columns::ValueSink sink(out.data());
  write_columns(sink, *context_, target_, set_);
}

std::vector<float> FeatureExtractor::extract(const Function& nest) {
  std::vector<float> row(size_);
  extract(nest, row);
  return row;
}

std::string format_features(std::span<const float> row, std::span<const std::string> names) {
  if (row.size() != names.size()) {
    throw UserError(fmt::format("{} features but {} names", row.size(), names.size()),
                    "take the names of the same feature set");
  }
  size_t width = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] != 0) width = std::max(width, names[i].size());
  }
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] != 0) fmt::format_to(std::back_inserter(text), "{:<{}}  {:.4g}\n", names[i], width, row[i]);
  }
  return text;
}

std::string format_loop_context(const NestContext& nest) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const LoopContext& loop : nest.loops) {
    fmt::format_to(out, "{:{}}{} {} length={:g} outer={:g} topdown={:g} bottomup={:g} flops={:g} bytes={:g}", "",
                   2 * loop.level, to_string(loop.kind), loop.var->name, loop.length, loop.outer, loop.topdown,
                   loop.bottomup, loop.flops, loop.bytes);
    for (const Touch& t : nest.touches_of(loop)) {
      const TouchContext& c = nest.context(t, loop.level);
      const char* kind = t.kind == TouchKind::kStore ? "=" : t.kind == TouchKind::kPrefetch ? "~" : "";
      fmt::format_to(out, " | {}{} stride={:g} count={:g} reuse={:g} lines={:g}", t.buffer->name, kind, c.stride,
                     c.count, c.reuse, c.lines);
      if (c.mod != 0) fmt::format_to(out, " mod={:g}", c.mod);
      if (c.thread_count != 0)
        fmt::format_to(out, " thread_count={:g} thread_reuse={:g}", c.thread_count, c.thread_reuse);
      if (t.gather) fmt::format_to(out, " gather");
    }
    text += '\n';
  }
  return text;
}

}  // namespace tensmith
