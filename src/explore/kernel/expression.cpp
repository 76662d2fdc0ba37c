#include "tensmith/explore/kernel/expression.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tensmith/support/error.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

constexpr int kDeepest = 200;
constexpr size_t kLongest = 4096;
/// What is shown of a long text.
constexpr size_t kExcerpt = 100;

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

}  // namespace

/// Recursive descent over the text; there are no tokens between.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::string_view where, std::span<const ExpressionName> names)
      : text_(text), where_(where), names_(names) {}

  KernelExpression run() {
    if (text_.size() > kLongest) {
      throw UserError(fmt::format("{}: the expression is longer than {} characters", where_, kLongest),
                      "make it shorter; a restriction can be split at its && into several --restrict");
    }
    if (trim(text_).empty()) {
      throw UserError(fmt::format("{}: the expression is empty", where_), "write for example x*y <= 1024");
    }
    const Operand whole = logical_or();
    require_number(whole);
    skip_space();
    if (at_ < text_.size()) fail(at_, fmt::format("unexpected {}", next_text()), closing_hint());
    out_.text_ = std::string(trim(text_));
    return std::move(out_);
  }

 private:
  using Op = KernelExpression::Op;

  /// A part of the expression: a number, a name that stands for a text, or a text.
  struct Operand {
    uint32_t node = 0;
    size_t begin = 0;
    const ExpressionName* text_name = nullptr;
    std::optional<std::string> text;
  };

  // ---- the grammar, from the weakest operator to the strongest ----

  Operand logical_or() {
    Operand left = logical_and();
    while (accept("||") || accept_word("or")) left = logical(Op::kOr, left, logical_and());
    return left;
  }

  Operand logical_and() {
    Operand left = logical_not();
    while (accept("&&") || accept_word("and")) left = logical(Op::kAnd, left, logical_not());
    return left;
  }

  Operand logical_not() {
    const size_t begin = at_;
    if (!accept_word("not")) return comparison();
    Deeper deeper(*this);
    const Operand operand = logical_not();
    return unary_node(Op::kNot, operand, begin);
  }

  Operand comparison() {
    const Operand left = sum();
    const std::optional<std::string_view> op = accept_comparison();
    if (!op) return left;
    const Operand right = sum();
    const size_t place = at_;
    if (const std::optional<std::string_view> second = accept_comparison()) {
      fail(place + text_.substr(place).find(*second), "comparisons do not chain",
           "join two with &&: 32 <= x && x <= 1024");
    }
    return compare(*op, left, right);
  }

  Operand sum() {
    Operand left = product();
    while (true) {
      if (accept("+")) {
        left = arithmetic(Op::kAdd, left, product());
      } else if (accept("-")) {
        left = arithmetic(Op::kSubtract, left, product());
      } else {
        return left;
      }
    }
  }

  Operand product() {
    Operand left = unary();
    while (true) {
      if (accept("*")) {
        left = arithmetic(Op::kMultiply, left, unary());
      } else if (accept("/")) {
        left = arithmetic(Op::kDivide, left, unary());
      } else if (accept("%")) {
        left = arithmetic(Op::kRemainder, left, unary());
      } else {
        return left;
      }
    }
  }

  Operand unary() {
    skip_space();
    const size_t begin = at_;
    Deeper deeper(*this);
    if (accept("-")) return unary_node(Op::kNegate, unary(), begin);
    if (accept("+")) {
      const Operand operand = unary();
      require_number(operand);
      return operand;
    }
    if (peek() == '!' && peek(1) != '=') {
      ++at_;
      return unary_node(Op::kNot, unary(), begin);
    }
    return primary(begin);
  }

  Operand primary(size_t begin) {
    if (accept("(")) {
      const Operand inside = logical_or();
      expect(")", begin);
      return inside;
    }
    if (is_digit(peek())) return number(begin);
    if (peek() == '"' || peek() == '\'') return text(begin);
    if (is_letter(peek())) return name(begin);
    fail(begin, at_ < text_.size() ? fmt::format("a number or a name is expected, not {}", next_text())
                                   : std::string("the expression ends too early"));
  }

  Operand number(size_t begin) {
    while (is_digit(peek())) ++at_;
    if (is_letter(peek()) || peek() == '.') {
      fail(begin, "only whole decimal numbers are possible", "scale the restriction so that it needs no fraction");
    }
    const std::optional<int64_t> value = parse_int64(text_.substr(begin, at_ - begin));
    if (!value) fail(begin, "the number is too large", "numbers have 64 bits: the greatest is 9223372036854775807");
    return {add({Op::kNumber, *value}), begin};
  }

  Operand text(size_t begin) {
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) fail(begin, "the text has no closing quote");
    Operand operand{0, begin};
    operand.text = std::string(text_.substr(at_, end - at_));
    at_ = end + 1;
    return operand;
  }

  Operand name(size_t begin) {
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if ((word == "min" || word == "max") && accept("(")) {
      const Operand left = logical_or();
      expect(",", begin);
      const Operand right = logical_or();
      expect(")", begin);
      return arithmetic(word == "min" ? Op::kMin : Op::kMax, left, right);
    }
    const auto found =
        std::find_if(names_.begin(), names_.end(), [&](const ExpressionName& n) { return n.name == word; });
    if (found == names_.end()) unknown_name(begin, word);
    if (!found->missing.empty()) fail(begin, fmt::format("'{}' has no value", word), found->missing);
    Operand operand{add({Op::kName, found - names_.begin()}), begin};
    if (!found->texts.empty()) operand.text_name = &*found;
    return operand;
  }

  // ---- nodes ----

  uint32_t add(KernelExpression::Node node) {
    out_.nodes_.push_back(node);
    return static_cast<uint32_t>(out_.nodes_.size() - 1);
  }

  Operand unary_node(Op op, const Operand& operand, size_t begin) {
    require_number(operand);
    return {add({op, 0, operand.node}), begin};
  }

  Operand arithmetic(Op op, const Operand& left, const Operand& right) {
    require_number(left);
    require_number(right);
    return {add({op, 0, left.node, right.node}), left.begin};
  }

  Operand logical(Op op, const Operand& left, const Operand& right) { return arithmetic(op, left, right); }

  Operand compare(std::string_view op, const Operand& left, const Operand& right) {
    if (left.text_name || right.text_name || left.text || right.text) return compare_texts(op, left, right);
    if (op == ">" || op == ">=") {
      return {add({op == ">" ? Op::kLess : Op::kLessEqual, 0, right.node, left.node}), left.begin};
    }
    const Op code = op == "==" ? Op::kEqual : op == "!=" ? Op::kNotEqual : op == "<" ? Op::kLess : Op::kLessEqual;
    return {add({code, 0, left.node, right.node}), left.begin};
  }

  Operand compare_texts(std::string_view op, const Operand& left, const Operand& right) {
    const Operand& name = left.text_name ? left : right;
    const Operand& literal = left.text_name ? right : left;
    if (!name.text_name || !literal.text) {
      fail(literal.begin, "a text is compared with something else",
           "a parameter whose values are texts is compared with one of them: order == \"ijk\"");
    }
    if (op != "==" && op != "!=") {
      fail(left.begin, fmt::format("texts have no order for '{}'", op), "compare them with == or !=");
    }
    const std::vector<std::string>& texts = name.text_name->texts;
    const auto found = std::find(texts.begin(), texts.end(), *literal.text);
    if (found == texts.end()) {
      fail(literal.begin, fmt::format("'{}' is no value of {}", *literal.text, name.text_name->name),
           fmt::format("it has {}", fmt::join(texts, ", ")));
    }
    const uint32_t number = add({Op::kNumber, found - texts.begin()});
    return {add({op == "==" ? Op::kEqual : Op::kNotEqual, 0, name.node, number}), left.begin};
  }

  void require_number(const Operand& operand) {
    if (operand.text) {
      fail(operand.begin, "a text can only be compared with a parameter", "write for example order == \"ijk\"");
    }
    if (operand.text_name) {
      fail(operand.begin, fmt::format("the values of {} are texts", operand.text_name->name),
           fmt::format("compare it with one of them: {} == \"{}\"", operand.text_name->name,
                       operand.text_name->texts.front()));
    }
  }

  // ---- characters ----

  /// Counts how deep the parser is nested, so that no text can use up the stack.
  struct Deeper {
    explicit Deeper(ExpressionParser& p) : parser(p) {
      if (++parser.depth_ > kDeepest) {
        parser.fail(parser.at_, fmt::format("it is nested deeper than {}", kDeepest),
                    "write it with fewer parentheses and signs within each other");
      }
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ExpressionParser& parser;
  };

  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_space() {
    while (std::isspace(static_cast<unsigned char>(peek())) != 0) ++at_;
  }

  bool accept(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    const char after = peek(word.size());
    if (is_letter(after) || is_digit(after)) return false;
    at_ += word.size();
    return true;
  }

  std::optional<std::string_view> accept_comparison() {
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (accept(op)) return op;
    }
    skip_space();
    if (peek() == '=') fail(at_, "'=' is no comparison", "write ==");
    return std::nullopt;
  }

  void expect(std::string_view symbol, size_t opened) {
    if (accept(symbol)) return;
    fail(at_, fmt::format("'{}' is expected for what begins at column {}", symbol, opened + 1));
  }

  std::string next_text() const {
    const char c = peek();
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
  }
  std::string closing_hint() const {
    return peek() == ')'                    ? "there is one ')' too many"
           : peek() == '&' || peek() == '|' ? "write && and ||"
                                            : "an operator may be missing before it";
  }

  [[noreturn]] void unknown_name(size_t begin, std::string_view word) {
    std::vector<std::string> known;
    for (const ExpressionName& n : names_) known.push_back(n.name);
    const std::optional<std::string> close = closest_match(word, known);
    fail(begin, fmt::format("unknown name '{}'", word),
         close           ? fmt::format("did you mean '{}'?", *close)
         : known.empty() ? std::string("no names are known here")
                         : fmt::format("known are {}", fmt::join(known, ", ")));
  }

  [[noreturn]] void fail(size_t place, const std::string& message, const std::string& hint = {}) const {
    place = std::min(place, text_.size());
    const size_t shown = place > kExcerpt / 2 ? place - kExcerpt / 2 : 0;
    std::string excerpt(text_.substr(shown, kExcerpt));
    for (char& c : excerpt) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    }
    throw UserError(fmt::format("{}: column {}: {}", where_, place + 1, message), hint,
                    fmt::format("  {}\n  {}^", excerpt, std::string(place - shown, ' ')));
  }

  std::string_view text_;
  std::string_view where_;
  std::span<const ExpressionName> names_;
  size_t at_ = 0;
  int depth_ = 0;
  KernelExpression out_;
};

KernelExpression::KernelExpression(int64_t constant) : text_(fmt::format("{}", constant)) {
  nodes_.push_back({Op::kNumber, constant});
}

KernelExpression KernelExpression::parse(std::string_view text, std::string_view where,
                                         std::span<const ExpressionName> names) {
  return ExpressionParser(text, where, names).run();
}

bool KernelExpression::uses(size_t name) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const Node& node) { return node.op == Op::kName && static_cast<size_t>(node.value) == name; });
}

ExpressionValue KernelExpression::evaluate(std::span<const int64_t> values) const {
  return evaluate(nodes_.back(), values);
}

ExpressionValue KernelExpression::evaluate(const Node& node, std::span<const int64_t> values) const {
  if (node.op == Op::kNumber) return {node.value};
  if (node.op == Op::kName) return {values[static_cast<size_t>(node.value)]};
  const ExpressionValue left = evaluate(nodes_[node.left], values);
  if (!left.ok()) return left;
  const int64_t a = left.value;
  if (node.op == Op::kAnd && a == 0) return {0};
  if (node.op == Op::kOr && a != 0) return {1};
  ExpressionValue out;
  bool overflow = false;
  if (node.op == Op::kNegate) {
    overflow = __builtin_sub_overflow(int64_t{0}, a, &out.value);
  } else if (node.op == Op::kNot) {
    out.value = a == 0 ? 1 : 0;
  } else {
    const ExpressionValue right = evaluate(nodes_[node.right], values);
    if (!right.ok()) return right;
    const int64_t b = right.value;
    switch (node.op) {
      case Op::kAdd: overflow = __builtin_add_overflow(a, b, &out.value); break;
      case Op::kSubtract: overflow = __builtin_sub_overflow(a, b, &out.value); break;
      case Op::kMultiply: overflow = __builtin_mul_overflow(a, b, &out.value); break;
      case Op::kDivide:
      case Op::kRemainder:
        if (b == 0) return {0, ExpressionFault::kDivisionByZero};
        if (b == -1) {
          // The quotient of the least number is not representable, and computing it traps.
          overflow = node.op == Op::kDivide && __builtin_sub_overflow(int64_t{0}, a, &out.value);
        } else {
          const int64_t quotient = floor_divide(a, b);
          out.value = node.op == Op::kDivide ? quotient : a - quotient * b;
        }
        break;
      case Op::kMin: out.value = std::min(a, b); break;
      case Op::kMax: out.value = std::max(a, b); break;
      case Op::kEqual: out.value = a == b ? 1 : 0; break;
      case Op::kNotEqual: out.value = a != b ? 1 : 0; break;
      case Op::kLess: out.value = a < b ? 1 : 0; break;
      case Op::kLessEqual: out.value = a <= b ? 1 : 0; break;
      default: out.value = b != 0 ? 1 : 0; break;
    }
  }
  return overflow ? ExpressionValue{0, ExpressionFault::kOverflow} : out;
}

}  // namespace tensmith
