#include "codegen/c_reserved.h"

#include <algorithm>
#include <iterator>

namespace tensmith {

namespace {

// The lists are words between spaces.

constexpr std::string_view kKeywords =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl"
    " concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default"
    " delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long"
    " mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register"
    " reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch"
    " template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using"
    " virtual void volatile wchar_t while xor xor_eq ";

/// Functions of the standard headers and main, those of math.h without the f and l of their other types.
constexpr std::string_view kMath =
    " acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma"
    " fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan"
    " nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc"
    " j0 j1 jn y0 y1 yn gamma ";
constexpr std::string_view kFunctions =
    " abort abs aligned_alloc alloca at_quick_exit atexit atof atoi atol atoll bcmp bcopy bsearch bzero calloc clearerr"
    " div exit fclose feof ferror fflush fgetc fgetpos fgets fopen fpclassify fprintf fputc fputs fread free freopen"
    " fscanf fseek fsetpos ftell fwrite getc getchar getenv gets index isfinite isgreater isgreaterequal isinf isless"
    " islessequal islessgreater isnan isnormal isunordered labs ldiv llabs lldiv main malloc mblen mbstowcs mbtowc "
    "memchr"
    " memcmp memcpy memmove memset offsetof perror printf putc putchar puts qsort quick_exit rand realloc remove rename"
    " rewind rindex scanf setbuf setvbuf signbit signgam snprintf sprintf srand sscanf strcat strchr strcmp strcoll"
    " strcpy strcspn strdup strerror strlen strncat strncmp strncpy strndup strpbrk strrchr strspn strstr strtod strtof"
    " strtok strtol strtold strtoll strtoul strtoull strxfrm system tmpfile tmpnam ungetc vfprintf vfscanf vprintf"
    " vscanf vsnprintf vsprintf vsscanf wcstombs wctomb ";

/// Types, objects and macros. Names like INT8_MAX are matched by is_integer_macro.
constexpr std::string_view kTypesAndMacros =
    " div_t double_t float_t fpos_t int16_t int32_t int64_t int8_t int_fast16_t int_fast32_t int_fast64_t int_fast8_t"
    " int_least16_t int_least32_t int_least64_t int_least8_t intmax_t intptr_t ldiv_t lldiv_t max_align_t nullptr_t"
    " ptrdiff_t size_t ssize_t uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t uint_fast64_t"
    " uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t"
    " BUFSIZ EOF EXIT_FAILURE EXIT_SUCCESS FILE FILENAME_MAX FOPEN_MAX FP_ILOGB0 FP_ILOGBNAN FP_INFINITE FP_NAN"
    " FP_NORMAL FP_SUBNORMAL FP_ZERO HUGE_VAL HUGE_VALF HUGE_VALL INFINITY L_tmpnam MATH_ERREXCEPT MATH_ERRNO"
    " MB_CUR_MAX NAN NULL RAND_MAX SEEK_CUR SEEK_END SEEK_SET TMP_MAX errno math_errhandling stderr stdin stdout"
    " M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 M_SQRT1_2 M_SQRT2 P_tmpdir"
    " BIG_ENDIAN BYTE_ORDER LITTLE_ENDIAN PDP_ENDIAN FD_SETSIZE NFDBITS L_ctermid WCONTINUED WEXITED WNOHANG WNOWAIT"
    " WSTOPPED WUNTRACED linux unix ";

constexpr std::string_view kRuntime =
    " tensmith_alloc tensmith_buffer tensmith_buffer_create tensmith_buffer_destroy tensmith_buffer_elements"
    " tensmith_buffer_is_contiguous tensmith_buffer_view tensmith_cpu_device tensmith_device tensmith_device_api"
    " tensmith_dtype tensmith_free tensmith_get_num_threads tensmith_parallel_for tensmith_pin_threads"
    " tensmith_set_flush_to_zero tensmith_set_num_threads tensmith_status tensmith_status_text tensmith_stop_threads"
    " tensmith_type_code ";

bool holds(std::string_view list, std::string_view name) {
  for (size_t at = list.find(name); at != std::string_view::npos; at = list.find(name, at + 1)) {
    if (at > 0 && list[at - 1] == ' ' && list[at + name.size()] == ' ') return true;
  }
  return false;
}

/// INT8_MAX, UINT_FAST16_MAX, SIZE_MAX, INT64_C, ...: those of stdint.h.
bool is_integer_macro(std::string_view name) {
  static constexpr std::string_view kBegins[] = {"INT", "UINT", "SIZE_", "PTRDIFF_", "SIG_ATOMIC_", "WCHAR_", "WINT_"};
  static constexpr std::string_view kEnds[] = {"_MAX", "_MIN", "_C", "_WIDTH"};
  return std::any_of(std::begin(kBegins), std::end(kBegins), [&](auto part) { return name.starts_with(part); }) &&
         std::any_of(std::begin(kEnds), std::end(kEnds), [&](auto part) { return name.ends_with(part); });
}

}  // namespace

bool is_reserved_in_c(std::string_view name) {
  if (name.empty()) return false;
  const bool typed = name.size() > 1 && (name.ends_with('f') || name.ends_with('l'));
  return name.front() == '_' || holds(kKeywords, name) || holds(kMath, name) ||
         (typed && holds(kMath, name.substr(0, name.size() - 1))) || holds(kFunctions, name) ||
         holds(kTypesAndMacros, name) || holds(kRuntime, name) || is_integer_macro(name) ||
         name.starts_with("TENSMITH_") || name.starts_with("ts_") || name.starts_with("TS_");
}

bool comes_with_function(std::string_view name, std::string_view function) {
  constexpr std::string_view kParallel = "_parallel";
  if (!name.starts_with(function)) return false;
  const std::string_view suffix = name.substr(function.size());
  return suffix == "_packed" || suffix == "_supported" ||
         (suffix.starts_with(kParallel) &&
          suffix.find_first_not_of("0123456789", kParallel.size()) == std::string_view::npos);
}

}  // namespace tensmith
