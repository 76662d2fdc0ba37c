#include "codegen/c_writer.h"

#include <utility>

#include "tensmith/support/strings.h"

namespace tensmith {

void CWriter::line(std::string_view text) {
  text_.append(2 * static_cast<size_t>(depth_), ' ');
  text_ += text;
  text_ += '\n';
}

void CWriter::open(std::string_view text) {
  line(std::string(text) + (text.empty() ? "{" : " {"));
  ++depth_;
}

void CWriter::close(std::string_view after) {
  --depth_;
  line("}" + std::string(after));
}

void CWriter::next(std::string_view text) {
  --depth_;
  open("} " + std::string(text));
}

std::string CWriter::take() { return std::exchange(text_, {}); }

std::string c_comment(std::string_view text) {
  std::string out;
  for (std::string_view line : split_string(text, '\n')) {
    std::string safe(line);
    for (size_t at; (at = safe.find("*/")) != std::string::npos;) safe.replace(at, 2, "* ");
    out += (out.empty() ? "/* " : "\n * ") + safe;
  }
  return out + " */\n";
}

}  // namespace tensmith
