#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/lexer.h"
#include "ir/syntax.h"
#include "tensmith/ir/ir.h"

namespace tensmith {

/// Reads expressions by precedence climbing. Statements (parse.cpp) build on it. Every mistake of the text is a
/// UserError; operands are checked here so that a factory never sees a wrong one.
class ExprParser {
 public:
  ExprParser(std::string_view text, std::span<const VarRef> variables, std::span<const Buffer> buffers);

  /// An expression; a literal without suffix takes `expected`, or its default type.
  Expr expression(std::optional<DataType> expected = std::nullopt);
  void expect_end();

 protected:
  /// What a name means.
  struct Symbol {
    VarRef var = nullptr;
    Buffer buffer = nullptr;
  };
  struct Access {
    Buffer buffer = nullptr;
    std::vector<Expr> indices;
    Expr predicate;
    int lanes = 1;
    int depth = 1;
  };

  // Tokens.
  const Token& token(size_t ahead = 0) const;
  std::string_view word(size_t ahead = 0) const;
  bool at(std::string_view text, size_t ahead = 0) const;
  bool at_kind(TokenKind kind, size_t ahead = 0) const { return token(ahead).kind == kind; }
  void advance() { ++position_; }
  bool accept(std::string_view text);
  void expect(std::string_view text);
  [[noreturn]] void fail_expected(const std::string& what) const;
  [[noreturn]] void fail(size_t offset, const std::string& message, std::string hint = {}) const;

  // Names.
  /// Consumes a name that a definition may take.
  std::string_view new_name(const char* what);
  /// Makes `name`, read at `offset`, mean `symbol` until it is forgotten.
  void define(std::string_view name, size_t offset, Symbol symbol);
  void forget(std::string_view name) { symbols_.erase(name); }

  /// `name` or `name: type`, an integer variable or any scalar.
  VarRef variable_declaration(bool integer_only, std::string_view* name, size_t* offset);
  /// A non-negative integer literal up to `highest`.
  int64_t natural(const char* what, int64_t highest);
  /// `name[indices if predicate]`.
  Access access();

  size_t offset() const { return token().offset; }

 private:
  /// A number whose type depends on its neighbours.
  struct Literal {
    bool negative;
    bool is_integer;
    std::string_view digits;
  };
  struct Operand {
    Expr value;
    std::optional<Literal> literal;
    size_t offset = 0;
    int depth = 1;
  };

  Operand operand(Precedence least);
  Operand prefix(Precedence least);
  Operand primary();
  Operand number();
  Operand named();
  Operand cast();
  Operand select();
  Operand ramp();
  Operand broadcast();
  Operand call(Intrinsic intrinsic);
  Operand reduce(ReduceOp op);
  Operand min_or_max(BinaryOp op);
  bool reduction_follows() const;
  std::optional<BinaryOp> binary_operator() const;
  Operand combine(BinaryOp op, Operand a, Operand b, size_t at);

  Expr literal(const Literal& literal, DataType type, size_t offset) const;
  Expr settle(const Operand& operand, std::optional<DataType> expected = std::nullopt) const;
  void settle_pair(Operand& a, Operand& b) const;
  Operand make(Expr value, size_t offset, std::initializer_list<int> depths) const;
  int lanes();

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  int nesting_ = 0;
  std::unordered_map<std::string_view, Symbol> symbols_;
};

}  // namespace tensmith
