#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensmith/explore/kernel/kernel.h"
#include "tensmith/support/error.h"

/// Entry of libFuzzer: any text is refused with a UserError or understood, as an expression, a list of arguments, a
/// parameter and a source.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tensmith::KernelExpression;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<tensmith::ExpressionName> names{{"x", {}}, {"y", {}}, {"order", {"ijk", "kij"}}};
  const auto attempt = [](auto&& f) {
    try {
      f();
    } catch (const tensmith::UserError&) {
      // What is refused is fine.
    }
  };
  attempt([&] {
    const int64_t values[] = {INT64_MIN, -1, 1};
    KernelExpression::parse(text, "fuzz", names).evaluate(values);
  });
  attempt([&] { tensmith::parse_kernel_arguments(text, {64, 1, 1}, 1); });
  attempt([&] { tensmith::parse_kernel_parameter(text); });
  for (const auto language :
       {tensmith::KernelLanguage::kC, tensmith::KernelLanguage::kOpenCl, tensmith::KernelLanguage::kCuda}) {
    tensmith::kernels_of(text, language);
    tensmith::missing_kernel_text("fuzz", text, language, "add");
  }
  return 0;
}
