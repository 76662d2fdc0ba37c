#pragma once

#include <memory>
#include <string>

#include "tensmith/schedule/target.h"

namespace llvm {
class Target;
class TargetMachine;
}  // namespace llvm

namespace tensmith {

/// Makes LLVM's back ends for the CPU families that Tensmith generates code for available; safe to call often.
void initialize_llvm();

/// The triple of this machine, "x86_64-pc-linux-gnu".
std::string host_triple();

/// LLVM's back end for a triple. Throws UserError when this LLVM has none.
const llvm::Target& llvm_target(const std::string& triple);

/// The feature list as LLVM takes it: "+avx,+avx2".
std::string llvm_feature_string(const Target& target);

/// A new target machine for the target: position-independent code, floating-point contraction only where an
/// instruction allows it. Throws UserError for a CPU that LLVM does not know.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target);

}  // namespace tensmith
