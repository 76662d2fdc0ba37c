#include "codegen/llvm/optimize.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <algorithm>
#include <iterator>

#include "tensmith/support/error.h"

namespace tensmith {

namespace {

/// Takes the back end's passes, without those that cost more than they give here.
class BackEndPasses : public llvm::legacy::PassManager {
 public:
  void add(llvm::Pass* pass) override {
    static constexpr llvm::StringLiteral kLeftOut[] = {
        // The emitter has placed all address arithmetic; these take a tenth of the time to undo that.
        "Loop Strength Reduction", "Canonicalize Freeze Instructions in Loops",
        // Orders instructions for processors that run them in order.
        "Post RA top-down list latency scheduler",
        // Look for types that the emitter never makes.
        "Expand large div/rem", "Expand large fp convert"};
    if (std::find(std::begin(kLeftOut), std::end(kLeftOut), pass->getPassName()) != std::end(kLeftOut)) {
      delete pass;
      return;
    }
    llvm::legacy::PassManager::add(pass);
  }
};

}  // namespace

void optimize_module(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loop_passes;
  loop_passes.addPass(llvm::LICMPass(llvm::LICMOptions()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loop_passes), /*UseMemorySSA=*/true,
                                                       /*UseBlockFrequencyInfo=*/false));
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine, bool assembly) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  BackEndPasses passes;
  const bool refused = machine.addPassesToEmitFile(
      passes, stream, nullptr, assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile,
      /*DisableVerify=*/true);
  TENSMITH_ICHECK(!refused, "this LLVM back end cannot write files");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace tensmith
