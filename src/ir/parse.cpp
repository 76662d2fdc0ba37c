#include "tensmith/ir/parse.h"

#include <fmt/format.h>

#include <limits>

#include "ir/expr_parser.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Deepest nest of loops, branches, lets and allocations.
constexpr int kDeepestBlock = 250;
constexpr size_t kMostDimensions = 64;

constexpr LoopKind kLoopKinds[] = {LoopKind::kSerial, LoopKind::kUnrolled, LoopKind::kVectorized, LoopKind::kParallel};
constexpr MemoryScope kScopes[] = {MemoryScope::kGlobal, MemoryScope::kShared, MemoryScope::kLocal};

class Parser : public ExprParser {
 public:
  using ExprParser::ExprParser;

  Function function() {
    expect("func");
    Function result;
    result.name = arena_string(new_name("the name of the function"));
    expect("(");
    std::vector<Buffer> inputs;
    std::vector<Buffer> outputs;
    while (!at(")")) {
      if (!inputs.empty() || !outputs.empty()) expect(",");
      const size_t start = offset();
      const bool is_output = accept("out");
      if (!is_output && !outputs.empty()) fail(start, "inputs come before outputs");
      (is_output ? outputs : inputs).push_back(buffer_declaration().buffer);
    }
    expect(")");
    expect(":");
    result.inputs = make_array(inputs);
    result.outputs = make_array(outputs);
    result.body = block();
    expect_end();
    return result;
  }

  Stmt program() {
    std::vector<Stmt> stmts;
    while (!at_kind(TokenKind::kEnd)) stmts.push_back(statement());
    return make_seq(stmts);
  }

 private:
  struct Declaration {
    std::string_view name;
    Buffer buffer;
  };

  std::vector<int64_t> numbers(const char* what) {
    std::vector<int64_t> result;
    expect("[");
    while (!at("]")) {
      if (!result.empty()) expect(",");
      if (result.size() == kMostDimensions) fail(offset(), fmt::format("more than {} dimensions", kMostDimensions));
      result.push_back(natural(what, std::numeric_limits<int64_t>::max()));
    }
    expect("]");
    return result;
  }

  /// Reads a declaration and defines its name.
  Declaration buffer_declaration() {
    const size_t start = offset();
    const std::string_view name = new_name("the name of a buffer");
    expect(":");
    const size_t type_offset = offset();
    if (!at_kind(TokenKind::kName) || !is_type_name(word())) fail_expected("a type");
    DataType type;
    try {
      type = parse_type(std::string(word()));
    } catch (const UserError& error) {
      fail(type_offset, error.message(), error.hint());
    }
    if (!type.is_scalar()) fail(type_offset, "the elements of a buffer are scalars");
    advance();
    const std::vector<int64_t> shape = numbers("an extent");
    const MemoryScope scope = memory_scope();
    std::vector<int64_t> strides;
    if (at("strides")) {
      const size_t strides_offset = offset();
      advance();
      strides = numbers("a stride");
      if (strides.size() != shape.size()) {
        fail(strides_offset, fmt::format("'{}' has {} dimensions and {} strides", name, shape.size(), strides.size()));
      }
    }
    const Buffer buffer = make_buffer(name, type, shape, scope, strides);
    try {
      buffer_size(buffer);
    } catch (const UserError& error) {
      fail(start, error.message(), error.hint());
    }
    define(name, start, {nullptr, buffer});
    return {name, buffer};
  }

  MemoryScope memory_scope() {
    for (MemoryScope scope : kScopes) {
      if (accept(to_string(scope))) return scope;
    }
    fail_expected("'global', 'shared' or 'local'");
  }

  void end_of_line() {
    if (!at_kind(TokenKind::kNewline)) fail_expected("the end of the line");
    advance();
  }

  /// The indented statements after a line that ends in a colon; empty for `pass`.
  Stmt block() {
    end_of_line();
    if (!at_kind(TokenKind::kIndent)) fail_expected("an indented block");
    if (++depth_ > kDeepestBlock) fail(offset(), fmt::format("statements nest more than {} deep", kDeepestBlock));
    advance();
    std::vector<Stmt> stmts;
    while (!at_kind(TokenKind::kDedent)) stmts.push_back(statement());
    advance();
    --depth_;
    return make_seq(stmts);
  }

  Stmt filled_block(const char* what) {
    const size_t start = offset();
    const Stmt body = block();
    if (!body) fail(start, fmt::format("{} needs a statement other than 'pass'", what));
    return body;
  }

  Stmt statement() {
    if (accept("pass")) {
      end_of_line();
      return {};
    }
    if (at("if")) return branch();
    if (at("let")) return let();
    if (at("alloc")) return allocate();
    if (at("prefetch")) return prefetch();
    for (LoopKind kind : kLoopKinds) {
      if (at(to_string(kind))) return loop(kind);
    }
    if (at_kind(TokenKind::kName) && !is_reserved_word(word())) return store();
    fail_expected("a statement");
  }

  Stmt loop(LoopKind kind) {
    advance();
    std::string_view name;
    size_t name_offset = 0;
    const VarRef var = variable_declaration(true, &name, &name_offset);
    expect("in");
    expect("[");
    natural("0, where every loop starts,", 0);
    expect(",");
    const size_t extent_offset = offset();
    const Expr extent = expression(var->type);
    if (extent.type() != var->type) {
      fail(extent_offset,
           fmt::format("the extent is {} and the loop variable {}", to_string(extent.type()), to_string(var->type)));
    }
    expect(")");
    expect(":");
    define(name, name_offset, {var, nullptr});
    const Stmt body = filled_block("a loop");
    forget(name);
    return make_for(var, extent, kind, body);
  }

  Stmt let() {
    advance();
    std::string_view name;
    size_t name_offset = 0;
    const VarRef var = variable_declaration(false, &name, &name_offset);
    expect("=");
    const size_t value_offset = offset();
    const Expr value = expression(var->type);
    if (value.type() != var->type) {
      fail(value_offset,
           fmt::format("the value is {} and '{}' is {}", to_string(value.type()), name, to_string(var->type)),
           "annotate the variable, as in 'let x: float32 = ...'");
    }
    expect(":");
    define(name, name_offset, {var, nullptr});
    const Stmt body = filled_block("a let");
    forget(name);
    return make_let(var, value, body);
  }

  Stmt allocate() {
    advance();
    const Declaration declared = buffer_declaration();
    expect(":");
    const Stmt body = filled_block("an allocation");
    forget(declared.name);
    return make_allocate(declared.buffer, body);
  }

  Stmt branch() {
    advance();
    const size_t start = offset();
    const Expr condition = expression();
    if (condition.type() != kBool) {
      fail(start, fmt::format("the condition of an if is a bool, this is {}", to_string(condition.type())));
    }
    expect(":");
    const Stmt then_case = filled_block("an if");
    Stmt else_case;
    if (accept("else")) {
      expect(":");
      else_case = filled_block("an else");
    }
    return make_if(condition, then_case, else_case);
  }

  Stmt store() {
    const Access target = access();
    expect("=");
    const size_t start = offset();
    const DataType type = target.buffer->type.with_lanes(target.lanes);
    const Expr value = expression(type);
    if (value.type() != type) {
      fail(start, fmt::format("{} cannot be stored where {} belongs", to_string(value.type()), to_string(type)));
    }
    end_of_line();
    return make_store(target.buffer, target.indices, value, target.predicate);
  }

  Stmt prefetch() {
    advance();
    const size_t start = offset();
    const Access target = access();
    if (target.predicate) fail(start, "a prefetch has no predicate");
    if (!target.indices.empty() && target.indices.back().type().is_vector()) {
      fail(start, "a prefetch has no vector index");
    }
    expect("into");
    for (int level = 1; level <= 3; ++level) {
      if (accept(fmt::format("L{}", level))) {
        end_of_line();
        return make_prefetch(target.buffer, target.indices, 4 - level);
      }
    }
    fail_expected("'L1', 'L2' or 'L3'");
  }

  int depth_ = 0;
};

}  // namespace

Function parse_function(std::string_view text) { return Parser(text, {}, {}).function(); }

Stmt parse_stmt(std::string_view text, std::span<const VarRef> variables, std::span<const Buffer> buffers) {
  return Parser(text, variables, buffers).program();
}

}  // namespace tensmith
