#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tensmith {

enum class TargetKind : uint8_t { kLlvm };

/// What code is generated for. Everything a template or a back end may know about the machine is here, so that the
/// same target gives the same space on any host. codegen/llvm/host_target.h makes one from text such as
/// `llvm:mcpu=skylake-avx512,mattr=+avx512vnni`.
struct Target {
  TargetKind kind = TargetKind::kLlvm;
  std::string triple;
  std::string cpu;                    ///< LLVM's name, never "native"
  std::vector<std::string> features;  ///< "+avx2", "-avx512f": sorted, complete

  int vector_bytes = 32;           ///< widest vector register that arithmetic should use: 16, 32 or 64
  int vector_registers = 16;       ///< architectural vector registers
  bool broadcast_operand = false;  ///< a multiply-add can take a scalar broadcast from memory (AVX-512)
  bool fma = true;
  int64_t l1_bytes = 32 << 10;  ///< data cache of one core
  int64_t l2_bytes = 512 << 10;
  int64_t l3_bytes = 8 << 20;

  /// Lanes of a vector register for elements of `bits`.
  int lanes(int bits) const { return vector_bytes * 8 / bits; }
};

/// Canonical text, parsable again; part of a record's key.
std::string to_string(const Target& target);

}  // namespace tensmith
