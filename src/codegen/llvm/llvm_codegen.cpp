#include "tensmith/codegen/llvm/llvm_codegen.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/optimize.h"
#include "codegen/llvm/supported_entry.h"
#include "codegen/llvm/target_machine.h"
#include "tensmith/codegen/c_source.h"
#include "tensmith/support/clock.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace {

void verify(const llvm::Module& module) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(module, &stream)) {
    std::string text;
    llvm::raw_string_ostream out(text);
    module.print(out, nullptr);
    throw InternalError(__FILE__, __LINE__, "emitted LLVM IR is malformed: " + problems, text);
  }
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return text;
}

}  // namespace

CompiledModule compile(std::span<const Function> functions, const Target& target, const CompileOptions& options) {
  check_function_names(functions);
  const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target);

  CompiledModule out;
  Stopwatch watch;
  llvm::LLVMContext context;
  context.setDiscardValueNames(!options.ll);
  llvm::Module module(functions.empty() ? llvm::StringRef("empty")
                                        : llvm::StringRef(functions[0].name.data(), functions[0].name.size()),
                      context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setPICLevel(llvm::PICLevel::BigPIC);

  ModuleContext shared{context, module, target};
  shared.native_f16 = std::find(target.features.begin(), target.features.end(), "+f16c") != target.features.end();
  for (const Function& function : functions) {
    Emitter(shared).emit_function(function);
    if (options.supported_entry) emit_supported_entry(shared, std::string(function.name));
  }
  verify(module);
  out.emit_seconds = watch.seconds();

  watch = Stopwatch();
  optimize_module(module, *machine);
  out.optimize_seconds = watch.seconds();
  if (options.ll) out.ll = print(module);

  watch = Stopwatch();
  if (options.assembly) {
    const std::unique_ptr<llvm::Module> copy = options.object ? llvm::CloneModule(module) : nullptr;
    out.assembly = generate_code(copy != nullptr ? *copy : module, *machine, true);
  }
  if (options.object) out.object = generate_code(module, *machine, false);
  out.generate_seconds = watch.seconds();
  return out;
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace tensmith
