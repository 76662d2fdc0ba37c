#include "schedule/expr_syntax.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/support/error.h"

namespace tensmith::syntax {

void fail_at(std::string_view text, size_t position, const std::string& message, const std::string& hint) {
  position = std::min(position, text.size());
  const size_t line_start = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;
  const size_t line_end = std::min(text.find('\n', position), text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(position), '\n') + 1;
  throw UserError(fmt::format("expression, line {} column {}: {}", line, position - line_start + 1, message), hint,
                  fmt::format("  {}\n  {}^", text.substr(line_start, line_end - line_start),
                              std::string(position - line_start, ' ')));
}

namespace {

/// Of a parsed expression, whose passes recurse.
constexpr int kMaxHeight = 400;
/// Of the parser's own recursion: to_text puts parentheses around each operator, and its text parses again.
constexpr int kMaxDepth = 4 * kMaxHeight + 8;

/// Binding strength of binary operators, weakest first.
int precedence(std::string_view op) {
  if (op == "or") return 1;
  if (op == "and") return 2;
  if (op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=") return 3;
  if (op == "+" || op == "-") return 4;
  if (op == "*" || op == "/" || op == "%") return 5;
  return 0;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { advance(); }

  std::vector<Definition> definitions() {
    std::vector<Definition> out;
    while (!token_.empty()) {
      if (token_ == ";") {
        advance();
        continue;
      }
      out.push_back(definition());
      if (!token_.empty()) {
        expect(";", "after a definition");
      }
    }
    if (out.empty()) {
      fail_at(text_, 0, "there is no definition", "write for example 'C[y,x] = sum(k: A[k,y]*B[k,x])'");
    }
    return out;
  }

 private:
  Definition definition() {
    Definition d;
    d.position = start_;
    d.name = name("the name of the tensor to define");
    expect("[", "after the tensor's name");
    while (token_ != "]") {
      d.index_positions.push_back(start_);
      d.indices.push_back(name("an index name"));
      if (token_ != "]") {
        expect(",", "between indices");
      }
    }
    advance();
    expect("=", "after the left side");
    d.value = expression(1);
    return d;
  }

  Node expression(int strength) {
    const DepthGuard guard(*this);
    Node left = unary();
    while (true) {
      const std::string op = token_;
      const int p = precedence(op);
      if (p == 0 || p < strength) {
        return left;
      }
      const size_t position = start_;
      advance();
      Node right = expression(p + 1);
      Node both{NodeKind::kBinary, position, op, {}, {}, {}};
      adopt(both, std::move(left));
      adopt(both, std::move(right));
      left = std::move(both);
    }
  }

  Node unary() {
    const DepthGuard guard(*this);
    if (token_ == "-" || token_ == "not") {
      Node node{NodeKind::kUnary, start_, token_, {}, {}, {}};
      const int strength = token_ == "not" ? precedence("==") : precedence("*");
      advance();
      adopt(node, token_ == "-" || token_ == "not" ? unary() : expression(strength + (node.text == "-")));
      return node;
    }
    return primary();
  }

  Node primary() {
    Node node{NodeKind::kName, start_, token_, {}, {}, {}};
    if (token_ == "(") {
      advance();
      Node inside = expression(1);
      expect(")", "to close the parenthesis");
      return inside;
    }
    if (!token_.empty() && (std::isdigit(static_cast<unsigned char>(token_[0])) || token_[0] == '.')) {
      node.kind = NodeKind::kNumber;
      advance();
      return node;
    }
    node.text = name("a number, a name or '('");
    if (token_ == "[") {
      node.kind = NodeKind::kIndexed;
      advance();
      arguments(node, "]");
    } else if (token_ == "(") {
      node.kind = NodeKind::kCall;
      advance();
      if (node.text == "sum" || node.text == "max" || node.text == "min") {
        reduction_indices(node);
      }
      arguments(node, ")");
    }
    return node;
  }

  /// `k, l:` after `sum(`. Without a colon it is a function of values.
  void reduction_indices(Node& node) {
    const size_t colon = text_.find(':', start_);
    const size_t end = text_.find_first_of("()[];", start_);
    if (colon == std::string_view::npos || colon > end) {
      return;
    }
    node.kind = NodeKind::kReduce;
    while (true) {
      node.name_positions.push_back(start_);
      node.names.push_back(name("an index to reduce over"));
      if (token_ == ":") {
        break;
      }
      expect(",", "between the indices to reduce over");
    }
    advance();
  }

  void arguments(Node& node, std::string_view close) {
    while (token_ != close) {
      adopt(node, expression(1));
      if (token_ != close) {
        expect(",", fmt::format("or '{}'", close));
      }
    }
    advance();
  }

  std::string name(const char* what) {
    if (token_.empty() || (!std::isalpha(static_cast<unsigned char>(token_[0])) && token_[0] != '_') ||
        token_ == "and" || token_ == "or" || token_ == "not") {
      fail_at(text_, start_, fmt::format("expected {}, found {}", what, found()));
    }
    std::string result = token_;
    advance();
    return result;
  }

  void expect(std::string_view token, std::string_view where) {
    if (token_ != token) {
      fail_at(text_, start_, fmt::format("expected '{}' {}, found {}", token, where, found()));
    }
    advance();
  }

  std::string found() const { return token_.empty() ? "the end" : fmt::format("'{}'", token_); }

  void advance() {
    while (next_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[next_]))) {
      ++next_;
    }
    start_ = next_;
    if (next_ == text_.size()) {
      token_.clear();
      return;
    }
    const auto is_word = [&](size_t i) {
      return i < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[i])) || text_[i] == '_');
    };
    const char c = text_[next_];
    if (std::isdigit(static_cast<unsigned char>(c)) || (c == '.' && is_word(next_ + 1))) {
      ++next_;
      while (is_word(next_) || (next_ < text_.size() && text_[next_] == '.') ||
             (next_ < text_.size() && (text_[next_] == '-' || text_[next_] == '+') &&
              (text_[next_ - 1] == 'e' || text_[next_ - 1] == 'E'))) {
        ++next_;
      }
    } else if (is_word(next_)) {
      while (is_word(next_)) {
        ++next_;
      }
    } else {
      static constexpr std::string_view kPairs[] = {"==", "!=", "<=", ">=", "&&", "||"};
      const std::string_view pair = text_.substr(next_, 2);
      next_ += std::find(std::begin(kPairs), std::end(kPairs), pair) != std::end(kPairs) ? 2 : 1;
    }
    token_ = std::string(text_.substr(start_, next_ - start_));
    if (token_ == "&&") token_ = "and";
    if (token_ == "||") token_ = "or";
    if (token_ == "!") token_ = "not";
    static constexpr std::string_view kSymbols = "+-*/%()[],;:=<>";
    if (!is_word(start_) && token_.size() == 1 && c != '.' && kSymbols.find(c) == std::string_view::npos) {
      fail_at(text_, start_, fmt::format("unexpected character '{}'", token_));
    }
  }

  void adopt(Node& parent, Node child) {
    parent.height = std::max(parent.height, child.height + 1);
    parent.children.push_back(std::move(child));
    if (parent.height > kMaxHeight) too_deep();
  }

  [[noreturn]] void too_deep() const {
    fail_at(text_, start_, fmt::format("nested more than {} levels deep", kMaxHeight),
            "split the expression into several definitions");
  }

  struct DepthGuard {
    explicit DepthGuard(Parser& parser) : parser(parser) {
      if (++parser.depth_ > kMaxDepth) parser.too_deep();
    }
    ~DepthGuard() { --parser.depth_; }
    Parser& parser;
  };

  std::string_view text_;
  size_t next_ = 0;
  size_t start_ = 0;
  std::string token_;
  int depth_ = 0;
};

std::string to_text(const Node& node) {
  const auto join_children = [&] {
    std::vector<std::string> parts;
    for (const Node& child : node.children) {
      parts.push_back(to_text(child));
    }
    return fmt::format("{}", fmt::join(parts, ","));
  };
  switch (node.kind) {
    case NodeKind::kNumber:
    case NodeKind::kName: return node.text;
    case NodeKind::kIndexed: return fmt::format("{}[{}]", node.text, join_children());
    case NodeKind::kCall: return fmt::format("{}({})", node.text, join_children());
    case NodeKind::kReduce: return fmt::format("{}({}:{})", node.text, fmt::join(node.names, ","), join_children());
    case NodeKind::kUnary: return fmt::format("({} {})", node.text, to_text(node.children[0]));
    case NodeKind::kBinary:
      return fmt::format("({} {} {})", to_text(node.children[0]), node.text, to_text(node.children[1]));
  }
  TENSMITH_UNREACHABLE("unknown syntax node");
}

}  // namespace

std::vector<Definition> parse_definitions(std::string_view text) { return Parser(text).definitions(); }

std::string to_text(const Definition& definition) {
  return fmt::format("{}[{}]={}", definition.name, fmt::join(definition.indices, ","), to_text(definition.value));
}

}  // namespace tensmith::syntax
