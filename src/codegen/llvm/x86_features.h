#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tensmith {

/// Where CPUID reports a feature, and what the operating system must save for it to be usable.
struct X86Feature {
  std::string_view name;  ///< LLVM's name
  uint32_t leaf;
  uint32_t subleaf;
  int reg;  ///< 0 eax, 1 ebx, 2 ecx, 3 edx
  int bit;
  uint32_t os_state;  ///< bits of XCR0 that must be set, 0 for none
};

/// The features that code of an operator may use, in order of their names. A target's feature list is made of these.
std::span<const X86Feature> x86_features();

}  // namespace tensmith
