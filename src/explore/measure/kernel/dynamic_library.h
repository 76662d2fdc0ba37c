#pragma once

#include <string>
#include <vector>

namespace tensmith {

/// A shared library that is loaded when it is needed, so that machines without it run everything else. Stays loaded.
class DynamicLibrary {
 public:
  /// Tries the names in turn. Throws KernelFailure that says `what` needs it and how to get it.
  DynamicLibrary(const std::vector<const char*>& names, const std::string& what, const std::string& how_to_get_it);

  /// Sets a pointer to a function; throws KernelFailure when the library lacks it.
  template <typename F>
  void get(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(symbol(name));
  }

  /// The same, but null when the library lacks it.
  template <typename F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(find_symbol(name));
  }

 private:
  void* symbol(const char* name) const;
  void* find_symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string name_;
};

}  // namespace tensmith
