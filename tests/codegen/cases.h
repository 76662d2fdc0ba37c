#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Programs that every back end must run as the interpreter does, in the text of parse.h.

namespace tensmith::test {

enum class Fill {
  kSmallIntegers,  ///< -8 .. 8: sums and products are exact in any order
  kAny,            ///< all values of the type, the extreme and special ones often
};

struct CaseOptions {
  Fill fill = Fill::kSmallIntegers;
  uint64_t seed = 1;
  double relative_tolerance = 0.0;  ///< 0: bits must agree (two NaNs of any payload agree)
};

struct Case {
  std::string text;
  CaseOptions options;
};

class Cases {
 public:
  void add(std::string text, const CaseOptions& options = {}) { list_.push_back({std::move(text), options}); }
  /// The pattern with TYPE replaced by each of several element types.
  void add_for_elements(const std::string& pattern);
  const std::vector<Case>& list() const { return list_; }

 private:
  std::vector<Case> list_;
};

struct CaseGroup {
  const char* name;
  void (*fill)(Cases&);
  bool uses_runtime = false;
};
inline void PrintTo(const CaseGroup& group, std::ostream* out) { *out << group.name; }

std::span<const CaseGroup> arithmetic_groups();
std::span<const CaseGroup> memory_groups();
std::span<const CaseGroup> statement_groups();
/// All of the above.
std::vector<CaseGroup> all_groups();

/// A function that casts elements from one type to another, `lanes` at a time.
std::string cast_function(std::string_view from, std::string_view to, int lanes, int64_t count = 240);

/// A register tile of 4 by 16 with a reduction loop, as a function named `tile`.
std::string register_tile();

}  // namespace tensmith::test
