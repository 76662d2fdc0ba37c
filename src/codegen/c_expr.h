#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "codegen/c_helpers.h"
#include "codegen/c_names.h"
#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/ir.h"

namespace tensmith {

/// C type of a value: "int64_t", "float", "bool", "uint16_t" for the bits of a 16-bit float.
std::string_view c_value_type(DataType type);
/// C type of an element in memory: as the value, bool being "uint8_t".
std::string_view c_memory_type(DataType type);

/// Prints expressions as C. One lane of a vector is printed at a time: `lane` is the C variable that counts them.
class CExprPrinter {
 public:
  CExprPrinter(CNames& names, CHelperSet& helpers, const VarRanges& ranges)
      : names_(names), helpers_(helpers), ranges_(ranges) {}

  /// Accesses have one index in elements.
  void set_flat(bool flat) { flat_ = flat; }
  void set_lane(std::string_view lane) { lane_ = lane; }
  /// The variable holds data, so that arithmetic on it may wrap.
  void add_data_variable(VarRef var) { data_.insert(var); }
  /// Whether arithmetic in `e` is on loop variables only, which never wraps.
  bool is_index(Expr e) const;

  std::string print(Expr e) { return print(e, 0); }
  /// "A[i*8 + l]"
  std::string element(Buffer buffer, Array<Expr> indices);

 private:
  std::string print(Expr e, int precedence, bool plain_literals = true);
  std::string print_int(DataType type, int64_t value, bool plain) const;
  std::string print_float(DataType type, double value);
  std::string print_cast(const Cast& n, int precedence);
  std::string print_binary(const Binary& n, int precedence);
  std::string print_integer_binary(const Binary& n, int precedence);
  std::string print_division(const Binary& n, int precedence);
  std::string print_select(const Select& n, int precedence);
  std::string print_load(const Load& n, int precedence);
  std::string print_ramp(const Ramp& n, int precedence);
  std::string print_call(const Call& n);
  std::string infix(std::string_view op, int op_precedence, Expr a, Expr b, int precedence);
  /// A 16-bit float as a C float; other floats as they are.
  std::string widened(Expr e, int precedence);
  std::string narrowed(DataType type, const std::string& text);

  CNames& names_;
  CHelperSet& helpers_;
  const VarRanges& ranges_;
  std::unordered_set<VarRef> data_;
  std::string lane_;
  bool flat_ = false;
};

}  // namespace tensmith
