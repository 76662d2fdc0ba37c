#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tensmith/ir/parse.h"
#include "tensmith/ir/print.h"
#include "tensmith/ir/structural.h"
#include "tensmith/support/error.h"

/// Entry of libFuzzer: any text is either refused with a UserError or is a program that survives printing and parsing.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tensmith::Arena arena;
  arena.reset();
  const tensmith::ArenaScope scope(arena);
  try {
    const tensmith::Function f = tensmith::parse_function(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!tensmith::structural_equal(f, tensmith::parse_function(tensmith::to_string(f)))) std::abort();
  } catch (const tensmith::UserError&) {
    return 0;
  }
  return 0;
}
