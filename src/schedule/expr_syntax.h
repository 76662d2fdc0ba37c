#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tensmith::syntax {

enum class NodeKind : uint8_t { kNumber, kName, kIndexed, kCall, kReduce, kUnary, kBinary };

/// A parsed but not yet resolved expression.
struct Node {
  NodeKind kind;
  size_t position = 0;             ///< offset in the text
  std::string text;                ///< name, operator or literal
  std::vector<std::string> names;  ///< reduction indices
  std::vector<size_t> name_positions;
  std::vector<Node> children;
  int height = 0;  ///< longest way down
};

/// `name[indices] = value`.
struct Definition {
  std::string name;
  size_t position = 0;
  std::vector<std::string> indices;
  std::vector<size_t> index_positions;
  Node value;
};

/// Throws UserError at `position` of `text`: message, line:column, the line and a caret.
[[noreturn]] void fail_at(std::string_view text, size_t position, const std::string& message,
                          const std::string& hint = {});

/// Parses `text` into definitions. Throws UserError.
std::vector<Definition> parse_definitions(std::string_view text);

/// One spelling for equal definitions.
std::string to_text(const Definition& definition);

}  // namespace tensmith::syntax
