#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// What the program says: results on standard output, everything else on standard error.
namespace tensmith::cli {

/// Writes to standard output, at once. Throws WorkError with the system's reason when it is not all written, so that
/// lost output never looks like success.
void emit_text(std::string_view text);
/// One JSON object on a line of its own; as emit_text.
void emit_result(const nlohmann::json& result);

/// Throws UserError when `output` is the same file as one of `inputs`, whatever they are called: it would be replaced.
void refuse_to_overwrite(std::string_view option, const std::string& output, const std::vector<std::string>& inputs);

/// Writes to standard error. Where that fails there is nobody left to tell, so it does nothing.
void print_stderr(std::string_view text) noexcept;
/// "tensmith: error: MESSAGE" on standard error.
void print_error(std::string_view message) noexcept;

/// What an exception says, for people.
std::string_view error_text(const std::exception& error);

/// Where standard input, output or error is closed, the next file that is opened would get its number, and messages
/// would go into the database. Opens them on something that cannot be written, so that output fails as it should.
void open_closed_descriptors();

}  // namespace tensmith::cli
