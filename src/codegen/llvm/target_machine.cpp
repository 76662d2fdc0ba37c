#include "codegen/llvm/target_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

#include "tensmith/support/error.h"

namespace tensmith {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

std::string host_triple() { return llvm::sys::getDefaultTargetTriple(); }

const llvm::Target& llvm_target(const std::string& triple) {
  initialize_llvm();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) {
    throw UserError(fmt::format("LLVM has no back end for '{}': {}", triple, error),
                    "use a target of this machine's family");
  }
  return *target;
}

std::string llvm_feature_string(const Target& target) { return fmt::format("{}", fmt::join(target.features, ",")); }

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Target& target) {
  const std::string triple = target.triple.empty() ? host_triple() : target.triple;
  const llvm::Target& backend = llvm_target(triple);
  const std::unique_ptr<llvm::MCSubtargetInfo> known(backend.createMCSubtargetInfo(triple, "", ""));
  if (!target.cpu.empty() && !known->isCPUStringValid(target.cpu)) {
    throw UserError(fmt::format("LLVM does not know the CPU '{}' for {}", target.cpu, triple),
                    "make targets with parse_target");
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  options.NoTrappingFPMath = true;
  options.MCOptions.AsmVerbose = true;  // tells spills in assembly text
  std::unique_ptr<llvm::TargetMachine> machine(
      backend.createTargetMachine(triple, target.cpu, llvm_feature_string(target), options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  TENSMITH_ICHECK(machine != nullptr, "no target machine for " + to_string(target));
  return machine;
}

}  // namespace tensmith
