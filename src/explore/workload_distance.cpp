#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tensmith/explore/database.h"
#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

/// What a differing layout, type or other word costs, in halvings of an extent.
constexpr double kWordDistance = 2.0;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.'; }

/// "conv2d" of "conv2d:n=1,...", empty for a free expression.
std::string_view operator_name(std::string_view workload) {
  size_t end = 0;
  while (end < workload.size() && is_word(workload[end])) ++end;
  return end > 0 && end < workload.size() && workload[end] == ':' ? workload.substr(0, end) : std::string_view();
}

double number_distance(double a, double b) { return std::abs(std::log2((std::abs(a) + 1.0) / (std::abs(b) + 1.0))); }

double value_distance(std::string_view a, std::string_view b) {
  const auto parts_a = split_string(a, ':');
  const auto parts_b = split_string(b, ':');
  if (parts_a.size() != parts_b.size()) return kWordDistance;
  double distance = 0.0;
  for (size_t i = 0; i < parts_a.size(); ++i) {
    const auto x = parse_double(parts_a[i]);
    const auto y = parse_double(parts_b[i]);
    if (x && y) {
      distance += number_distance(*x, *y);
    } else if (parts_a[i] != parts_b[i]) {
      distance += kWordDistance;
    }
  }
  return distance;
}

/// Fields by name; a field without '=' is its own name.
std::map<std::string_view, std::string_view> fields_of(std::string_view text) {
  std::map<std::string_view, std::string_view> fields;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(", ;"), text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    fields[field.substr(0, equals)] = equals == std::string_view::npos ? std::string_view() : field.substr(equals + 1);
  }
  return fields;
}

double field_distance(std::string_view a, std::string_view b) {
  const auto fields_a = fields_of(a);
  const auto fields_b = fields_of(b);
  double distance = 0.0;
  for (const auto& [name, value] : fields_a) {
    const auto other = fields_b.find(name);
    distance += other == fields_b.end() ? kWordDistance : value_distance(value, other->second);
  }
  for (const auto& [name, value] : fields_b) distance += fields_a.contains(name) ? 0.0 : kWordDistance;
  return distance;
}

/// An expression with each free-standing number replaced by '#'; the numbers go to `numbers`.
std::string skeleton(std::string_view text, std::vector<double>& numbers) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string_view word = text.substr(i, std::max(end - i, size_t{1}));
    // Shapes are written 4x8x16.
    bool all_numbers = end > i;
    std::vector<double> extents;
    for (std::string_view part : split_string(word, 'x')) {
      const auto number = parse_double(part);
      all_numbers = all_numbers && number;
      if (number) extents.push_back(*number);
    }
    if (all_numbers) {
      numbers.insert(numbers.end(), extents.begin(), extents.end());
      result += std::string(extents.size(), '#');
    } else {
      result += word;
    }
    i += word.size();
  }
  return result;
}

}  // namespace

std::optional<double> workload_distance(std::string_view a, std::string_view b) {
  if (a == b) return 0.0;
  const std::string_view name = operator_name(a);
  if (name != operator_name(b)) return std::nullopt;
  if (!name.empty()) return field_distance(a.substr(name.size() + 1), b.substr(name.size() + 1));
  std::vector<double> numbers_a;
  std::vector<double> numbers_b;
  if (skeleton(a, numbers_a) != skeleton(b, numbers_b)) return std::nullopt;
  double distance = 0.0;
  for (size_t i = 0; i < numbers_a.size(); ++i) distance += number_distance(numbers_a[i], numbers_b[i]);
  return distance;
}

}  // namespace tensmith
