#include "tensmith/codegen/llvm/jit.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectFileInterface.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <string>
#include <vector>

#include "codegen/llvm/target_machine.h"
#include "tensmith/support/error.h"

namespace tensmith {

namespace orc = llvm::orc;

namespace {

[[noreturn]] void fail(llvm::Error error, std::string_view what, std::string_view reports = {}) {
  throw WorkError(fmt::format("{}: {}{}", what, reports, llvm::toString(std::move(error))),
                  "the object must come from Tensmith for this kind of machine, and its runtime symbols must be given");
}

void check(llvm::Error error, std::string_view what) {
  if (error) fail(std::move(error), what);
}

template <typename T>
T take(llvm::Expected<T> value, std::string_view what) {
  if (!value) fail(value.takeError(), what);
  return std::move(*value);
}

/// Answers ORC's questions for undefined symbols.
class ProcessSymbols : public orc::DefinitionGenerator {
 public:
  explicit ProcessSymbols(std::span<const NativeSymbol> symbols) {
    for (const NativeSymbol& s : symbols) symbols_.emplace_back(s.name, s.address);
  }

  llvm::Error tryToGenerate(orc::LookupState&, orc::LookupKind, orc::JITDylib& dylib, orc::JITDylibLookupFlags,
                            const orc::SymbolLookupSet& wanted) override {
    orc::SymbolMap found;
    for (const auto& [name, flags] : wanted) {
      if (void* address = find((*name).str())) {
        found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
      }
    }
    return found.empty() ? llvm::Error::success() : dylib.define(orc::absoluteSymbols(std::move(found)));
  }

 private:
  void* find(const std::string& name) const {
    for (const auto& [known, address] : symbols_) {
      if (known == name) return address;
    }
    return dlsym(RTLD_DEFAULT, name.c_str());
  }

  std::vector<std::pair<std::string, void*>> symbols_;
};

}  // namespace

struct LoadedModule::Impl {
  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  orc::JITDylib* dylib;
  std::string reports;  ///< what ORC tells beside the errors that it returns

  explicit Impl(std::unique_ptr<orc::ExecutorProcessControl> control)
      : session(std::move(control)), layer(session), dylib(&session.createBareJITDylib("operator")) {
    session.setErrorReporter([this](llvm::Error error) { reports += llvm::toString(std::move(error)) + "; "; });
  }
  ~Impl() { llvm::consumeError(session.endSession()); }
};

LoadedModule::LoadedModule(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LoadedModule::LoadedModule(LoadedModule&&) noexcept = default;
LoadedModule& LoadedModule::operator=(LoadedModule&&) noexcept = default;
LoadedModule::~LoadedModule() = default;

LoadedModule LoadedModule::load(std::span<const char> object, std::span<const NativeSymbol> symbols) {
  auto control = take(orc::SelfExecutorProcessControl::Create(std::make_shared<orc::SymbolStringPool>(),
                                                              std::make_unique<orc::InPlaceTaskDispatcher>()),
                      "cannot prepare to load an object");
  auto impl = std::make_unique<Impl>(std::move(control));
  impl->dylib->addGenerator(std::make_unique<ProcessSymbols>(symbols));
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "operator.o");
  orc::MaterializationUnit::Interface interface =
      take(orc::getObjectFileInterface(impl->session, buffer->getMemBufferRef()), "cannot read an object");
  if (interface.SymbolFlags.empty()) throw WorkError("an object defines no symbol", "give it a compiled operator");
  const orc::SymbolStringPtr any = interface.SymbolFlags.begin()->first;
  check(impl->layer.add(*impl->dylib, std::move(buffer), std::move(interface)), "cannot load an object");
  // Looking one symbol up links the whole object: problems belong to the loading, and no call must pay for it.
  auto linked = impl->session.lookup({impl->dylib}, any);
  if (!linked) fail(linked.takeError(), "cannot link an object", impl->reports);
  return LoadedModule(std::move(impl));
}

void* LoadedModule::symbol(std::string_view name) const {
  const llvm::StringRef text(name.data(), name.size());
  auto found = impl_->session.lookup({impl_->dylib}, impl_->session.intern(text));
  return take(std::move(found), fmt::format("no symbol '{}'", name)).getAddress().toPtr<void*>();
}

PackedEntry LoadedModule::packed_entry(std::string_view function_name) const {
  return reinterpret_cast<PackedEntry>(symbol(fmt::format("{}_packed", function_name)));
}

}  // namespace tensmith
