#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/explore/kernel/kernel.h"

namespace tensmith {

/// Whether it is an identifier of C.
bool is_identifier(std::string_view text);

/// size_x, size_y and size_z: what stands for the problem's size, which has so many `dimensions`; those beyond have no
/// value.
std::vector<ExpressionName> size_names(int dimensions);

/// What expressions over a config may use: the parameters, then the sizes that no parameter hides.
std::vector<ExpressionName> config_names(std::span<const KernelParameter> parameters, int dimensions);

/// The files that a source includes by "..." and that are beside it.
struct IncludedFiles {
  std::vector<std::filesystem::path> files;
  bool others = false;  ///< it includes by "..." or a macro what is not beside it
};
IncludedFiles included_files(const std::filesystem::path& path, std::string_view code);

/// What a source names.
struct SourceNames {
  std::set<std::string> names;
  bool pastes = false;  ///< it makes others by ##
};
/// By its words, those of preprocessor lines and of texts (`_Pragma("...")`) too; not those of comments.
SourceNames names_in_source(std::string_view code);

/// A source without the byte order mark that it may begin with: directives count where a line begins. Throws as
/// read_input.
std::string read_source(const std::filesystem::path& path);

/// Throws UserError for a parameter that nothing names: neither the source, with what it includes by "..." from beside
/// it, nor a flag, another parameter's value or an expression. Where the source may name it by means that are not seen
/// (files from elsewhere, names that are pasted together) it is a warning. Throws as read_source.
void require_used_parameters(const KernelSpec& spec);

/// At most about 60 characters of a text that errors quote, and dots for the rest.
std::string shortened(std::string_view text);

/// "divides by zero", "overflows".
std::string_view fault_text(ExpressionFault fault);

}  // namespace tensmith
