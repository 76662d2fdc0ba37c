#include "table.h"

#include <algorithm>

#include <fmt/format.h>

namespace tensmith::cli {

Table::Table(std::vector<std::string> header) { rows_.push_back(std::move(header)); }

void Table::add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

std::string Table::text() const {
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t i = 0; i < rows_[r].size(); ++i) {
      out += i == 0 ? fmt::format("{:<{}}", rows_[r][i], widths[i]) : fmt::format("  {:>{}}", rows_[r][i], widths[i]);
    }
    out += '\n';
    if (r == 0) {
      for (size_t i = 0; i < widths.size(); ++i) out += std::string(widths[i] + (i == 0 ? 0 : 2), '-');
      out += '\n';
    }
  }
  return out;
}

}  // namespace tensmith::cli
