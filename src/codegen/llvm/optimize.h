#pragma once

#include <string>

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace tensmith {

/// Cleans a module up after emission: promotes stack arrays to registers, removes what is computed twice, hoists
/// invariants. Nothing that changes loops.
void optimize_module(llvm::Module& module, llvm::TargetMachine& machine);

/// Runs the back end, which changes the module. `assembly` chooses text over object bytes.
std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine, bool assembly);

}  // namespace tensmith
