#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The rules of the source tree as functions from a file's path and text to what is wrong with it, so that the rules
/// can be tested on made-up files.
namespace tensmith::structure {

/// A directory (a path below src/, or "python-free-tools") and the directories whose headers it may include.
struct Arrow {
  std::string_view directory;
  std::vector<std::string_view> may_use;
};

/// The directory whose library the file belongs to: "ir/passes" for src/ir/passes/x.cpp and for
/// include/tensmith/ir/passes/x.h, the nearest directory above that the table knows (its own, when there is none),
/// "python-free-tools" for the command line, "umbrella" for the headers directly in include/tensmith/; empty for every
/// other file.
std::string directory_of(const std::vector<Arrow>& table, const std::string& path);

/// What is wrong with the file's #include lines: an arrow that the table lacks, a directory that it does not know,
/// another directory's private header, or a library's header where it may not appear.
std::vector<std::string> check_includes(const std::vector<Arrow>& table, const std::string& path,
                                        const std::string& text);

/// What is wrong with the file's text: too long, `using namespace` in a header, a header without #pragma once, virtual
/// calls or run-time type information in the IR, words that mark unfinished work, paths of one machine.
std::vector<std::string> check_text(const std::string& path, const std::string& text);

/// What is wrong with a directory below src/: no README.md, no CMakeLists.txt, or not exactly the one library that its
/// name asks for ("ir/passes" declares tensmith_passes, "codegen/llvm" tensmith_codegen_llvm; the same with "_shared"
/// behind is a second form of it, and "..._proto" holds generated code).
std::vector<std::string> check_directory(const std::filesystem::path& root, const std::string& directory);

/// The text with comments and string contents blanked out; line ends stay.
std::string code_only(const std::string& text);

}  // namespace tensmith::structure
