#include "explore/measure/kernel/opencl_types.h"

#include <algorithm>
#include <iterator>

#include "tensmith/support/strings.h"

namespace tensmith {
namespace {

struct NamedType {
  std::string_view name;
  int bits;
  bool floating;
};

constexpr NamedType kTypes[] = {{"char", 8, false},           {"uchar", 8, false},   {"unsigned char", 8, false},
                                {"short", 16, false},         {"ushort", 16, false}, {"unsigned short", 16, false},
                                {"int", 32, false},           {"uint", 32, false},   {"unsigned int", 32, false},
                                {"unsigned", 32, false},      {"long", 64, false},   {"ulong", 64, false},
                                {"unsigned long", 64, false}, {"half", 16, true},    {"float", 32, true},
                                {"double", 64, true}};

}  // namespace

bool fits_opencl_parameter(std::string_view parameter, DataType type, bool buffer) {
  const size_t star = parameter.find('*');
  const bool pointer = star != std::string_view::npos;
  if (pointer && !buffer) return false;
  std::string_view base = trim(parameter.substr(0, star));
  while (!base.empty() && base.back() >= '0' && base.back() <= '9') base.remove_suffix(1);
  const auto* const known =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const NamedType& t) { return t.name == base; });
  if (known == std::end(kTypes)) return true;
  if (pointer != buffer) return false;
  if (type.is_bool()) return known->bits == 8;
  if (known->bits != type.bits) return false;
  return known->floating == type.is_float() || (type.is_float() && type.bits == 16);
}

}  // namespace tensmith
