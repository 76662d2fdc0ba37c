#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace tensmith {

/// A symbol that loaded code may use, and where it is in this process.
struct NativeSymbol {
  std::string_view name;
  void* address;
};

/// Entry of a compiled function, see llvm_codegen.h: the pointers of its parameters in order; 0 is success.
using PackedEntry = int (*)(void* const* args);

/// Object code in this process's memory, ready to run. The memory goes back when the module is destroyed; nothing else
/// is kept, so any number of modules can be loaded one after the other.
class LoadedModule {
 public:
  /// Links the bytes of an object file. An undefined symbol is looked up in `symbols`, then among the dynamic symbols
  /// of this process (which has libm and libc's memory functions). Pass the runtime's functions in `symbols`: a
  /// statically linked program does not show its own.
  /// Throws WorkError for bytes that are no object file of this machine and for symbols that are nowhere.
  static LoadedModule load(std::span<const char> object, std::span<const NativeSymbol> symbols = {});

  LoadedModule(LoadedModule&& other) noexcept;
  LoadedModule& operator=(LoadedModule&& other) noexcept;
  ~LoadedModule();

  /// Address of a symbol that the object defines. Throws WorkError when there is none.
  void* symbol(std::string_view name) const;
  /// The entry `NAME_packed` of the function NAME.
  PackedEntry packed_entry(std::string_view function_name) const;

 private:
  struct Impl;
  explicit LoadedModule(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tensmith
