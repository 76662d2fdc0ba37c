#pragma once

#include <cstdint>

#include "tensmith/ir/ir.h"

/// Equality and hashing by structure rather than identity.
///
/// What a tree defines (loop, let and reduction variables, allocations, parameters) may differ in identity and name as
/// long as it is used in the same places; types, shapes, strides and scopes count. What a tree uses without defining
/// must be the very same variable or buffer. Constants are equal when their bits are, so -0.0 and 0.0 differ; all NaNs
/// are equal. The name of a function does not count.

namespace tensmith {

bool structural_equal(Expr a, Expr b);
bool structural_equal(Stmt a, Stmt b);
bool structural_equal(const Function& a, const Function& b);

/// Equal structures have equal hashes, on every machine and in every version. Free variables and buffers count by the
/// order of their first use (and their types), so the hash of an expression does not depend on addresses; two
/// expressions that differ only in which free variables they use may collide.
uint64_t structural_hash(Expr e);
uint64_t structural_hash(Stmt s);
uint64_t structural_hash(const Function& function);

}  // namespace tensmith
