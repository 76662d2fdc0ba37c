#pragma once

#include <string>
#include <vector>

namespace tensmith::cli {

/// Columns of text, the first left-aligned and the others right-aligned, with a rule under the header.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tensmith::cli
