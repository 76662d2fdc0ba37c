#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensmith/explore/kernel/expression.h"
#include "tensmith/ir/type.h"

/// A user's own kernel: parameterised source code, what it is called with, and what may be chosen.

namespace tensmith {

enum class KernelLanguage : uint8_t { kC, kOpenCl, kCuda };

/// "c", "opencl", "cuda".
std::string_view to_string(KernelLanguage language);
std::optional<KernelLanguage> parse_kernel_language(std::string_view text);

/// A macro of the source and the values that it may have.
struct KernelParameter {
  std::string name;
  std::vector<std::string> values;  ///< as they are written into the source; the first is the default
  bool numbers = true;              ///< every value is a whole number

  bool operator==(const KernelParameter&) const = default;
};

/// NAME=V1,V2,... Throws UserError when the name is no identifier, the list is empty, or a value is empty, repeated,
/// not UTF-8, or holds a character that compilers' options do not carry.
KernelParameter parse_kernel_parameter(std::string_view text);

/// An argument of the kernel, in the order of its parameter list.
struct KernelArgument {
  enum class Role : uint8_t {
    kScalar,
    kInput,   ///< read only
    kOutput,  ///< written; compared with the reference
    kInOut,   ///< read and written; compared with the reference
  };
  enum class Content : uint8_t { kRandom, kValue, kFile };

  std::string name;
  DataType type;
  Role role = Role::kInput;
  uint64_t count = 1;  ///< elements
  Content content = Content::kRandom;
  double low = 0.0, high = 0.0;  ///< of kRandom: the least and the greatest value
  double value = 0.0;            ///< of kScalar and kValue
  int64_t integer = 0;           ///< the same, exactly, for integer types
  std::filesystem::path file;    ///< of kFile: raw little-endian elements
  std::string text;              ///< as canonical text
  std::string given;             ///< as the user wrote it

  bool is_buffer() const { return role != Role::kScalar; }
  bool is_checked() const { return role == Role::kOutput || role == Role::kInOut; }
  uint64_t bytes() const { return count * static_cast<uint64_t>(type.element_bytes()); }
  /// The bytes of a file that is the contents. Throws UserError when it cannot be read or has another size.
  std::string read_contents() const;
};

/// Arguments of a list with commas between:
///
///     NAME:TYPE=VALUE            a scalar; VALUE is a number or an expression of the sizes
///     NAME:TYPE[COUNT]{:OPTION}  a buffer of COUNT elements (an expression of the sizes)
///
/// OPTION is one of `input` (the default), `output`, `inout`; `random` (the default: [-1, 1) for floating-point types,
/// small numbers otherwise), `random=LOW..HIGH`, `zeros`, `value=V`, `file=PATH` (to the end of the argument).
/// TYPE is int8 to int64, uint8 to uint64, bool, float16, bfloat16 (buffers only), float32 or float64. The sizes are
/// size_x, size_y and size_z, of which the first `dimensions` have values. Throws UserError that shows the argument.
std::vector<KernelArgument> parse_kernel_arguments(std::string_view text, const std::array<int64_t, 3>& size,
                                                   int dimensions);

/// What a user says about a kernel, as text.
struct KernelRequest {
  std::filesystem::path source;
  std::optional<KernelLanguage> language;  ///< nothing: by the suffix of the source: .c, .cl, .cu
  std::string entry;                       ///< empty: the only kernel in the source
  std::vector<std::string> parameters;     ///< see parse_kernel_parameter
  std::vector<std::string> restrictions;   ///< see KernelExpression; true for the configs that are possible
  /// X[,Y[,Z]]: the problem's size; expressions. Nothing else may use a dimension that is left out, but for a block of
  /// 1 there.
  std::string size;
  /// X[,Y[,Z]], expressions of parameters and sizes: threads of a block (work-items of a work-group). Empty: the
  /// parameters block_size_x, block_size_y and block_size_z, or 1.
  std::string block;
  /// X[,Y[,Z]]: how much of the size a block does, so that there are ceil(size / grid_div) blocks. Empty: the block.
  std::string grid_div;
  std::vector<std::string> arguments;  ///< see parse_kernel_arguments
  std::vector<std::string> flags;      ///< options of the compiler, besides -D of each parameter
};

/// How a config is launched.
struct KernelLaunch {
  std::array<int64_t, 3> block{1, 1, 1};
  std::array<int64_t, 3> grid{1, 1, 1};  ///< in blocks
};

/// A kernel that is described completely and soundly. Immutable.
struct KernelSpec {
  std::string name;  ///< of the source file
  std::filesystem::path source;
  std::string code;        ///< of the source file, without a byte order mark
  uint64_t code_hash = 0;  ///< of the code and the files that it includes by "..."
  KernelLanguage language = KernelLanguage::kC;
  std::string entry;
  std::vector<KernelParameter> parameters;
  std::vector<KernelExpression> restrictions;
  std::array<int64_t, 3> size{1, 1, 1};
  int dimensions = 0;  ///< of the size that was given; beyond them it is 1
  std::array<KernelExpression, 3> block{KernelExpression(1), KernelExpression(1), KernelExpression(1)};
  std::array<KernelExpression, 3> grid_div{KernelExpression(1), KernelExpression(1), KernelExpression(1)};
  std::vector<KernelArgument> arguments;
  std::vector<std::string> flags;

  /// Whether it is launched as blocks of threads.
  bool has_grid() const { return language != KernelLanguage::kC; }
  /// What a measured time depends on besides the config and the device: the names and sizes, the code with the files
  /// that it includes by "..." and the arguments' files (as hashes), arguments and flags. Throws as read_contents.
  std::string identity() const;
  /// Whether the source, and what it includes by "...", still is what it was when this was made.
  bool source_unchanged() const;
};

/// Reads the source and understands all of the request. Throws UserError for whatever is wrong with it, a file that
/// may not be read among it, and WorkError where reading fails.
KernelSpec describe_kernel(const KernelRequest& request);

/// The names of the kernels that a source defines: functions marked __kernel or kernel, __global__, or functions that
/// are not static. A light reading: what macros make is not seen.
std::vector<std::string> kernels_of(std::string_view source, KernelLanguage language);

/// "'add.cl' has no kernel 'ad', but add, add2", by the same reading, where a static function counts too; empty when it
/// has one.
std::string missing_kernel_text(const std::filesystem::path& path, std::string_view source, KernelLanguage language,
                                std::string_view name);

}  // namespace tensmith
