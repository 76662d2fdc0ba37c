#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/ir/arith/simplify.h"
#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"

namespace tensmith::testing {

/// Named variables with ranges, and expressions written as text over them.
class Scope {
 public:
  VarRef add(std::string_view name, Range range = {}, DataType type = kInt64) {
    vars_.push_back(make_var(name, type));
    ranges_.push(vars_.back(), range);
    return vars_.back();
  }
  /// A buffer that loads can name.
  Buffer add_buffer(std::string_view name, DataType type, std::vector<int64_t> shape) {
    buffers_.push_back(make_buffer(name, type, shape));
    return buffers_.back();
  }
  Expr operator()(std::string_view text) const { return parse_expr(text, vars_, buffers_); }
  std::string simple(std::string_view text) const { return to_string(simplify((*this)(text), ranges_)); }
  VarRanges& ranges() { return ranges_; }
  const VarRanges& ranges() const { return ranges_; }
  const std::vector<VarRef>& vars() const { return vars_; }

 private:
  std::vector<VarRef> vars_;
  std::vector<Buffer> buffers_;
  VarRanges ranges_;
};

/// x, y, z and n without known ranges, i in [0, 8), j in [0, 4), k in [0, 100).
inline void add_common(Scope& s) {
  for (const char* name : {"x", "y", "z", "n"}) s.add(name);
  s.add("i", Range::of_extent(8));
  s.add("j", Range::of_extent(4));
  s.add("k", Range::of_extent(100));
}

}  // namespace tensmith::testing
