#include "tensmith/schedule/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tensmith/support/strings.h"

namespace tensmith {

namespace {

constexpr Primitive kPrimitives[] = {
    Primitive::kSplit,       Primitive::kFuse,      Primitive::kReorder,    Primitive::kUnroll,
    Primitive::kVectorize,   Primitive::kParallel,  Primitive::kComputeAt,  Primitive::kComputeInline,
    Primitive::kComputeRoot, Primitive::kCacheRead, Primitive::kCacheWrite, Primitive::kSetScope,
    Primitive::kRfactor,     Primitive::kTensorize, Primitive::kPrefetch,   Primitive::kLayoutTransform,
};
constexpr MemoryScope kScopes[] = {MemoryScope::kGlobal, MemoryScope::kShared, MemoryScope::kLocal};
constexpr TensorIntrinsic kIntrinsics[] = {TensorIntrinsic::kOuterProduct16F32};

/// What a primitive made.
struct Made {
  std::vector<AxisId> axes;
  std::optional<StageId> stage;
};

/// Applies one recorded primitive.
Made apply(Schedule& s, Primitive primitive, std::span<const int64_t> args) {
  auto stage = [&](size_t i) { return static_cast<StageId>(args[i]); };
  auto axis = [&](size_t i) { return AxisId{stage(i), static_cast<int16_t>(args[i + 1])}; };
  auto first_axis = [&](size_t i) { return AxisId{stage(0), static_cast<int16_t>(args[i])}; };
  Made made;
  switch (primitive) {
    case Primitive::kSplit: {
      const auto parts = args[3] != 0 ? s.split_nparts(axis(0), args[2]) : s.split(axis(0), args[2]);
      made.axes = {parts.first, parts.second};
      break;
    }
    case Primitive::kFuse: made.axes = {s.fuse(axis(0), first_axis(2))}; break;
    case Primitive::kReorder: {
      std::vector<AxisId> order;
      for (size_t i = 1; i < args.size(); ++i) order.push_back(first_axis(i));
      s.reorder(order);
      break;
    }
    case Primitive::kUnroll: s.unroll(axis(0)); break;
    case Primitive::kVectorize: s.vectorize(axis(0)); break;
    case Primitive::kParallel: s.parallel(axis(0)); break;
    case Primitive::kComputeAt: s.compute_at(stage(0), axis(1)); break;
    case Primitive::kComputeInline: s.compute_inline(stage(0)); break;
    case Primitive::kComputeRoot: s.compute_root(stage(0)); break;
    case Primitive::kCacheRead: {
      std::vector<StageId> readers;
      for (size_t i = 2; i < args.size(); ++i) readers.push_back(stage(i));
      made.stage = s.cache_read(stage(0), static_cast<MemoryScope>(args[1]), readers);
      break;
    }
    case Primitive::kCacheWrite: made.stage = s.cache_write(stage(0), static_cast<MemoryScope>(args[1])); break;
    case Primitive::kSetScope: s.set_scope(stage(0), static_cast<MemoryScope>(args[1])); break;
    case Primitive::kRfactor: made.stage = s.rfactor(axis(0), static_cast<int>(args[2])); break;
    case Primitive::kTensorize: s.tensorize(axis(0), static_cast<TensorIntrinsic>(args[2])); break;
    case Primitive::kPrefetch:
      s.prefetch(stage(0), stage(1), first_axis(2), axis(3), args[5], static_cast<int>(args[6]));
      break;
    case Primitive::kLayoutTransform: {
      std::vector<LayoutDim> layout;
      for (size_t i = 2; i + 2 < args.size(); i += 3) {
        layout.push_back({static_cast<int>(args[i]), args[i + 1], args[i + 2]});
      }
      made.stage = s.layout_transform(stage(0), layout, static_cast<PackWhen>(args[1]));
      break;
    }
  }
  return made;
}

// ---- printing
// -------------------------------------------------------------------------------------------------------------

std::string full_name(const Schedule& s, AxisId axis) {
  return fmt::format("{}.{}", s.name(axis.stage), s.axis_name(axis));
}

/// The line of a primitive, as the schedule is before it is applied; without what it makes.
std::string line_of(const Schedule& s, Primitive primitive, std::span<const int64_t> args) {
  auto stage = [&](size_t i) { return s.name(static_cast<StageId>(args[i])); };
  auto axis = [&](size_t i) {
    return full_name(s, {static_cast<StageId>(args[i]), static_cast<int16_t>(args[i + 1])});
  };
  auto first_axis = [&](size_t i) { return AxisId{static_cast<StageId>(args[0]), static_cast<int16_t>(args[i])}; };
  std::string line(to_string(primitive));
  auto put = [&](auto&& word) { line += fmt::format(" {}", word); };
  switch (primitive) {
    case Primitive::kSplit:
      put(axis(0));
      if (args[3] != 0) put("parts");
      put(args[2]);
      break;
    case Primitive::kFuse:
      put(axis(0));
      put(full_name(s, first_axis(2)));
      break;
    case Primitive::kReorder:
      put(stage(0));
      for (size_t i = 1; i < args.size(); ++i) put(s.axis_name(first_axis(i)));
      break;
    case Primitive::kUnroll:
    case Primitive::kVectorize:
    case Primitive::kParallel: put(axis(0)); break;
    case Primitive::kComputeAt:
      put(stage(0));
      put(axis(1));
      break;
    case Primitive::kComputeInline:
    case Primitive::kComputeRoot: put(stage(0)); break;
    case Primitive::kCacheRead:
    case Primitive::kCacheWrite:
    case Primitive::kSetScope:
      put(stage(0));
      put(to_string(static_cast<MemoryScope>(args[1])));
      for (size_t i = 2; i < args.size(); ++i) put(stage(i));
      break;
    case Primitive::kRfactor: line += fmt::format(" {} at {}", axis(0), args[2]); break;
    case Primitive::kTensorize:
      put(axis(0));
      put(to_string(static_cast<TensorIntrinsic>(args[2])));
      break;
    case Primitive::kPrefetch:
      line += fmt::format(" {} {} at {} by {} {} L{}", stage(0), stage(1), full_name(s, first_axis(2)), axis(3),
                          args[5], 4 - args[6]);
      break;
    case Primitive::kLayoutTransform:
      put(stage(0));
      put(static_cast<PackWhen>(args[1]) == PackWhen::kAhead ? "ahead" : "inside");
      for (size_t i = 2; i + 2 < args.size(); i += 3) {
        put(args[i]);
        if (args[i + 1] != 1) line += fmt::format("/{}", args[i + 1]);
        if (args[i + 2] != 0) line += fmt::format("%{}", args[i + 2]);
      }
      break;
  }
  return line;
}

// ---- parsing
// --------------------------------------------------------------------------------------------------------------

/// Turns one line into a primitive and its numbers.
class LineParser {
 public:
  LineParser(const Schedule& schedule, const std::map<std::string, AxisId, std::less<>>& axes,
             const std::map<std::string, StageId, std::less<>>& stages, int number, std::string_view line)
      : schedule_(schedule), axes_(axes), stages_(stages), number_(number), line_(line) {
    for (std::string_view word : split_string(line, ' ')) {
      if (!word.empty()) words_.push_back(word);
    }
    const auto arrow = std::find(words_.begin(), words_.end(), "->");
    if (arrow != words_.end()) {
      made_.assign(arrow + 1, words_.end());
      words_.erase(arrow, words_.end());
      if (made_.empty()) fail("nothing stands right of '->'");
    }
  }

  Primitive parse();
  std::span<const int64_t> args() const { return args_; }
  const std::vector<std::string_view>& made() const { return made_; }
  [[noreturn]] void fail(const std::string& why, const std::string& hint = {}) const {
    throw UserError(fmt::format("trace line {}: {} in '{}'", number_, why, line_), hint);
  }

 private:
  std::string_view next(std::string_view what) {
    if (at_ == words_.size()) fail(fmt::format("{} is missing", what));
    return words_[at_++];
  }
  void expect(std::string_view word) {
    const auto got = next(fmt::format("'{}'", word));
    if (got != word) fail(fmt::format("'{}' stands where '{}' is expected", got, word));
  }
  int64_t number(std::string_view what, std::string_view text) const {
    const auto value = parse_int64(text);
    if (!value) fail(fmt::format("'{}' is no number ({})", text, what));
    return *value;
  }
  void put(int64_t value) { args_.push_back(value); }
  void put_stage() { put(static_cast<int64_t>(stage(next("a stage")))); }
  void put_axis() {
    const AxisId id = axis(next("an axis"));
    put(static_cast<int64_t>(id.stage));
    put(id.index);
  }
  void put_axis_of(StageId id) {
    const AxisId found = axis(next("an axis"));
    if (found.stage != id) fail(fmt::format("'{}' is no axis of stage '{}'", words_[at_ - 1], schedule_.name(id)));
    put(found.index);
  }
  template <typename T, size_t N>
  void put_word(std::string_view what, const T (&known)[N]) {
    const auto word = next(what);
    std::string list;
    for (const T& value : known) {
      if (to_string(value) == word) return put(static_cast<int64_t>(value));
      list += fmt::format("{}{}", list.empty() ? "" : ", ", to_string(value));
    }
    fail(fmt::format("unknown {} '{}'", what.substr(2), word), "one of " + list);
  }
  StageId stage(std::string_view word) const;
  AxisId axis(std::string_view word) const;
  void put_layout_dim(std::string_view word);

  const Schedule& schedule_;
  const std::map<std::string, AxisId, std::less<>>& axes_;
  const std::map<std::string, StageId, std::less<>>& stages_;
  int number_;
  std::string_view line_;
  std::vector<std::string_view> words_;
  std::vector<std::string_view> made_;
  size_t at_ = 0;
  std::vector<int64_t> args_;
};

StageId LineParser::stage(std::string_view word) const {
  if (const auto alias = stages_.find(word); alias != stages_.end()) return alias->second;
  std::vector<std::string> known;
  for (StageId id : schedule_.order()) {
    if (schedule_.name(id) == word) return id;
    known.emplace_back(schedule_.name(id));
  }
  const auto close = closest_match(word, known);
  fail(fmt::format("unknown stage '{}'", word), close ? fmt::format("did you mean '{}'?", *close) : std::string());
}

AxisId LineParser::axis(std::string_view word) const {
  if (const auto alias = axes_.find(word); alias != axes_.end()) return alias->second;
  const size_t dot = word.find('.');
  if (dot == std::string_view::npos) fail(fmt::format("'{}' is no axis", word), "write STAGE.AXIS");
  const StageId id = stage(word.substr(0, dot));
  const std::string_view wanted = word.substr(dot + 1);
  const auto& axes = schedule_.stage(id).axes;
  std::vector<std::string> known;
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisId candidate = {id, static_cast<int16_t>(i)};
    std::string axis_name = schedule_.axis_name(candidate);
    if (axis_name == wanted) return candidate;
    known.push_back(std::move(axis_name));
  }
  const auto close = closest_match(wanted, known);
  fail(fmt::format("stage '{}' has no axis '{}' (its loops: {})", schedule_.name(id), wanted, schedule_.loops_text(id)),
       close ? fmt::format("did you mean '{}'?", *close) : std::string());
}

void LineParser::put_layout_dim(std::string_view word) {
  std::string_view rest = word;
  int64_t divisor = 1;
  int64_t modulus = 0;
  if (const size_t percent = rest.find('%'); percent != std::string_view::npos) {
    modulus = number("a modulus", rest.substr(percent + 1));
    rest = rest.substr(0, percent);
  }
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    divisor = number("a divisor", rest.substr(slash + 1));
    rest = rest.substr(0, slash);
  }
  put(number("a dimension", rest));
  put(divisor);
  put(modulus);
}

Primitive LineParser::parse() {
  const auto word = next("a primitive");
  const auto primitive =
      std::find_if(std::begin(kPrimitives), std::end(kPrimitives), [&](Primitive p) { return to_string(p) == word; });
  if (primitive == std::end(kPrimitives)) {
    std::vector<std::string> known;
    for (Primitive p : kPrimitives) known.emplace_back(to_string(p));
    const auto close = closest_match(word, known);
    fail(fmt::format("unknown primitive '{}'", word),
         close ? fmt::format("did you mean '{}'?", *close) : std::string());
  }
  switch (*primitive) {
    case Primitive::kSplit: {
      put_axis();
      auto factor = next("a factor");
      const bool parts = factor == "parts";
      if (parts) factor = next("the number of parts");
      put(number("a factor", factor));
      put(parts);
      break;
    }
    case Primitive::kFuse:
      put_axis();
      put_axis_of(static_cast<StageId>(args_[0]));
      break;
    case Primitive::kReorder: {
      const auto name = next("a stage");
      put(static_cast<int64_t>(stage(name)));
      while (at_ < words_.size()) put(axis(fmt::format("{}.{}", name, words_[at_++])).index);
      break;
    }
    case Primitive::kUnroll:
    case Primitive::kVectorize:
    case Primitive::kParallel: put_axis(); break;
    case Primitive::kComputeAt:
      put_stage();
      put_axis();
      break;
    case Primitive::kComputeInline:
    case Primitive::kComputeRoot: put_stage(); break;
    case Primitive::kCacheRead:
      put_stage();
      put_word("a memory scope", kScopes);
      while (at_ < words_.size()) put_stage();
      break;
    case Primitive::kCacheWrite:
    case Primitive::kSetScope:
      put_stage();
      put_word("a memory scope", kScopes);
      break;
    case Primitive::kRfactor:
      put_axis();
      expect("at");
      put(number("a position", next("a position")));
      break;
    case Primitive::kTensorize:
      put_axis();
      put_word("an intrinsic", kIntrinsics);
      break;
    case Primitive::kPrefetch: {
      put_stage();
      put_stage();
      expect("at");
      put_axis_of(static_cast<StageId>(args_[0]));
      expect("by");
      put_axis();
      put(number("a distance", next("a distance")));
      const auto level = next("a cache level");
      if (level != "L1" && level != "L2" && level != "L3") fail(fmt::format("'{}' is none of L1, L2, L3", level));
      put('4' - level[1]);
      break;
    }
    case Primitive::kLayoutTransform: {
      put_stage();
      const auto when = next("'ahead' or 'inside'");
      if (when != "ahead" && when != "inside") fail(fmt::format("'{}' is neither 'ahead' nor 'inside'", when));
      put(static_cast<int64_t>(when == "ahead" ? PackWhen::kAhead : PackWhen::kInside));
      while (at_ < words_.size()) put_layout_dim(words_[at_++]);
      break;
    }
  }
  if (at_ < words_.size()) fail(fmt::format("'{}' is one word too many", words_[at_]));
  return *primitive;
}

}  // namespace

std::string print_trace(const Schedule& schedule) {
  // Names are those at the time of each primitive, so that the schedule is made once more beside the text.
  Arena arena;
  const ArenaScope scope(arena);
  Schedule again(schedule.program());
  const auto trace = schedule.trace();
  std::string out;
  for (size_t i = 0; i < trace.size();) {
    const auto primitive = static_cast<Primitive>(trace[i]);
    const auto args = trace.subspan(i + 2, static_cast<size_t>(trace[i + 1]));
    std::string line = line_of(again, primitive, args);
    const Made made = apply(again, primitive, args);
    if (made.stage || !made.axes.empty()) line += " ->";
    if (made.stage) line += fmt::format(" {}", again.name(*made.stage));
    for (AxisId axis : made.axes) line += " " + full_name(again, axis);
    out += line + "\n";
    i += 2 + args.size();
  }
  return out;
}

Schedule replay_trace(const Program& program, std::string_view text) {
  Schedule out(program);
  replay_trace(out, text);
  return out;
}

void replay_trace(Schedule& schedule, std::string_view text) {
  std::map<std::string, AxisId, std::less<>> axes;
  std::map<std::string, StageId, std::less<>> stages;
  int number = 0;
  for (std::string_view line : split_string(text, '\n')) {
    ++number;
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    LineParser parser(schedule, axes, stages, number, line);
    const Primitive primitive = parser.parse();
    Made made;
    try {
      made = apply(schedule, primitive, parser.args());
    } catch (const ScheduleError& error) {
      throw UserError(fmt::format("trace line {}: {}", number, error.message()), error.hint());
    }
    if (parser.made().empty()) continue;
    const size_t count = made.stage ? 1 : made.axes.size();
    if (parser.made().size() != count) {
      parser.fail(fmt::format("{} names stand right of '->' and {} makes {}", parser.made().size(),
                              to_string(primitive), count));
    }
    if (made.stage) stages.insert_or_assign(std::string(parser.made()[0]), *made.stage);
    for (size_t i = 0; i < made.axes.size(); ++i) axes.insert_or_assign(std::string(parser.made()[i]), made.axes[i]);
  }
}

}  // namespace tensmith
