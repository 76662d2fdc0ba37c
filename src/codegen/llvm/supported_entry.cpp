#include "codegen/llvm/supported_entry.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/TargetParser/Triple.h>

#include <array>
#include <map>
#include <utility>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/x86_features.h"

namespace tensmith {

namespace {

constexpr std::string_view kSharedCheck = "tensmith.cpu_supported";

/// Bits that must be set in the four registers of one CPUID query.
using Wanted = std::array<uint32_t, 4>;

llvm::Function* make_baseline_function(ModuleContext& m, llvm::StringRef name, bool external) {
  auto* i32 = llvm::Type::getInt32Ty(m.context);
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(i32, false),
      external ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage, name, m.module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-cpu", "x86-64");
  // Without this attribute, empty as it is, the module's features would be added to those of that CPU.
  function->addFnAttr("target-features", "");
  return function;
}

/// The check itself, once a module.
llvm::Function* shared_check(ModuleContext& m) {
  const llvm::StringRef name(kSharedCheck.data(), kSharedCheck.size());
  if (llvm::Function* existing = m.module.getFunction(name)) return existing;

  std::map<std::pair<uint32_t, uint32_t>, Wanted> queries;
  uint32_t os_state = 0;
  for (const std::string& feature : m.target.features) {
    if (feature.front() != '+') continue;
    for (const X86Feature& known : x86_features()) {
      if (known.name != std::string_view(feature).substr(1)) continue;
      queries[{known.leaf, known.subleaf}][static_cast<size_t>(known.reg)] |= 1u << known.bit;
      os_state |= known.os_state;
    }
  }
  // Bit 27 of leaf 1's ecx: the system has enabled XGETBV.
  if (os_state != 0) queries[{1, 0}][2] |= 1u << 27;

  llvm::Function* function = make_baseline_function(m, name, false);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(m.context, "entry", function));
  llvm::BasicBlock* no = llvm::BasicBlock::Create(m.context, "no", function);
  auto* i32 = b.getInt32Ty();
  auto* four = llvm::StructType::get(m.context, {i32, i32, i32, i32});
  auto* cpuid = llvm::InlineAsm::get(llvm::FunctionType::get(four, {i32, i32}, false), "cpuid",
                                     "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}", true);
  const auto require = [&](llvm::Value* condition) {
    llvm::BasicBlock* next = llvm::BasicBlock::Create(m.context, "next", function, no);
    b.CreateCondBr(condition, next, no);
    b.SetInsertPoint(next);
  };
  for (uint32_t family : {0u, 0x80000000u}) {
    uint32_t highest = 0;
    for (const auto& [query, bits] : queries) {
      if ((query.first & 0x80000000u) == family) highest = std::max(highest, query.first);
    }
    if (highest == 0) continue;
    llvm::Value* limit = b.CreateExtractValue(b.CreateCall(cpuid, {b.getInt32(family), b.getInt32(0)}), 0u);
    require(b.CreateICmpUGE(limit, b.getInt32(highest)));
  }
  for (const auto& [query, bits] : queries) {
    llvm::Value* answer = b.CreateCall(cpuid, {b.getInt32(query.first), b.getInt32(query.second)});
    for (unsigned reg = 0; reg < 4; ++reg) {
      if (bits[reg] == 0) continue;
      llvm::Value* have = b.CreateAnd(b.CreateExtractValue(answer, reg), b.getInt32(bits[reg]));
      require(b.CreateICmpEQ(have, b.getInt32(bits[reg])));
    }
  }
  if (os_state != 0) {
    auto* pair = llvm::StructType::get(m.context, {i32, i32});
    auto* xgetbv = llvm::InlineAsm::get(llvm::FunctionType::get(pair, {i32}, false), "xgetbv",
                                        "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}", true);
    llvm::Value* state = b.CreateExtractValue(b.CreateCall(xgetbv, {b.getInt32(0)}), 0u);
    require(b.CreateICmpEQ(b.CreateAnd(state, b.getInt32(os_state)), b.getInt32(os_state)));
  }
  b.CreateRet(b.getInt32(1));
  b.SetInsertPoint(no);
  b.CreateRet(b.getInt32(0));
  return function;
}

}  // namespace

void emit_supported_entry(ModuleContext& m, const std::string& function_name) {
  const std::string name = function_name + "_supported";
  llvm::Value* answer = nullptr;
  if (llvm::Triple(m.module.getTargetTriple()).getArch() == llvm::Triple::x86_64) {
    llvm::Function* check = shared_check(m);
    llvm::Function* entry = make_baseline_function(m, name, true);
    llvm::IRBuilder<> b(llvm::BasicBlock::Create(m.context, "entry", entry));
    answer = b.CreateCall(check);
    b.CreateRet(answer);
    return;
  }
  llvm::Function* entry = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getInt32Ty(m.context), false),
                                                 llvm::GlobalValue::ExternalLinkage, name, m.module);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(m.context, "entry", entry));
  b.CreateRet(b.getInt32(1));
}

}  // namespace tensmith
