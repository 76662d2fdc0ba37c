#pragma once

#include <string>
#include <string_view>

namespace tensmith {

/// Lines of C with their indentation.
class CWriter {
 public:
  void line(std::string_view text);
  /// "text {", and what follows is indented.
  void open(std::string_view text);
  /// "}" and `after`.
  void close(std::string_view after = {});
  /// Ends one block and begins its other half: "} else {".
  void next(std::string_view text);
  std::string take();

 private:
  std::string text_;
  int depth_ = 0;
};

/// The text as one comment of C.
std::string c_comment(std::string_view text);

}  // namespace tensmith
