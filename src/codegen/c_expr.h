#pragma once

#include <set>
#include <string>

#include "codegen/c_names.h"
#include "tensmith/ir/arith/interval.h"
#include "tensmith/ir/ir.h"

namespace tensmith::c {

/// Writes expressions. Of a vector expression it writes the value of one lane, whose number is the variable `lane`.
class ExprWriter {
 public:
  explicit ExprWriter(Names& names) : names_(names) {}

  std::string write(Expr e) const { return write(e, {}); }
  std::string write(Expr e, const std::string& lane) const;
  /// Flat index of an access with one index or one per dimension.
  std::string index(Buffer buffer, const Array<Expr>& indices, const std::string& lane) const;
  /// An element to be stored, from a value of the buffer's type.
  std::string to_memory(DataType type, const std::string& value) const;

  /// Ranges of the variables in scope: a division of what cannot be negative is written as `/`.
  VarRanges& ranges() { return ranges_; }
  /// Definitions of the helper functions that were used.
  std::string helpers() const;

 private:
  std::string binary(const Binary& n, const std::string& lane) const;
  std::string integer_binary(const Binary& n, const std::string& a, const std::string& b) const;
  std::string cast(const Cast& n, const std::string& lane) const;
  std::string load(const Load& n, const std::string& lane) const;
  std::string call(const Call& n, const std::string& lane) const;
  std::string rounded(DataType type, const std::string& value) const;
  /// Names a helper and remembers that its definition is needed.
  std::string helper(const std::string& name, const std::string& definition) const;

  Names& names_;
  VarRanges ranges_;
  mutable std::set<std::pair<std::string, std::string>> helpers_;  ///< name, definition
};

}  // namespace tensmith::c
