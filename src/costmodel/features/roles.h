#pragma once

#include <array>
#include <cstdint>

#include "tensmith/costmodel/loop_context.h"

namespace tensmith {

/// The parts that accesses play, whatever the operator: what makes rows of different operators comparable.
enum class Role : uint8_t {
  kStore,  ///< element stored by the hottest statement
  kRead0,  ///< its reads other than that element, by how the vector loop moves them: consecutive first,
  kRead1,  ///< strided, then standing still; the first and the last of them
  kOther,  ///< element stored by the next hottest statement that writes another buffer (a copy out, a packing)
};
inline constexpr int kRoles = 4;
inline constexpr const char* kRoleNames[kRoles] = {"store", "read0", "read1", "other"};

/// Which access of a program plays which role. Null where none does.
struct Roles {
  const StatementContext* main = nullptr;  ///< the hottest statement: most arithmetic, then most iterations
  const StatementContext* other = nullptr;
  std::array<const Touch*, kRoles> touch{};
  int vector_level = -1;  ///< of the main statement's innermost loop that is vectorized, -1 for none
  int lane_level = -1;    ///< vector_level, or that of its innermost loop longer than 1

  const StatementContext* statement(int role) const { return role == static_cast<int>(Role::kOther) ? other : main; }
};

Roles find_roles(const NestContext& nest);

/// The innermost vectorized loop of a statement, or -1.
int vector_level_of(const NestContext& nest, const StatementContext& statement);

/// The access of the element that the statement stores.
const Touch& stored_touch(const NestContext& nest, const StatementContext& statement);

}  // namespace tensmith
