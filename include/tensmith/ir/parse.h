#pragma once

#include <span>
#include <string_view>

#include "tensmith/ir/ir.h"

/// Reads the text that print.h writes; `#` starts a comment. Blocks are indented by spaces.
///
/// All functions throw UserError on malformed text; its message holds line and column, the offending line with a caret,
/// and what was expected. Any input is safe: the nesting of expressions and statements, the length of the text, lanes
/// and shapes have limits, and what they return satisfies the checks of the factories (not those of verify.h).

namespace tensmith {

Function parse_function(std::string_view text);
/// `variables` and `buffers` are those that the text may use without defining them; their names are distinct.
Stmt parse_stmt(std::string_view text, std::span<const VarRef> variables = {}, std::span<const Buffer> buffers = {});
Expr parse_expr(std::string_view text, std::span<const VarRef> variables = {}, std::span<const Buffer> buffers = {});

}  // namespace tensmith
