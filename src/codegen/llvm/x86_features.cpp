#include "codegen/llvm/x86_features.h"

namespace tensmith {

namespace {

constexpr uint32_t kYmm = 0x6;
constexpr uint32_t kZmm = 0xe6;
constexpr uint32_t kTiles = 0x60000;
constexpr uint32_t kExtended = 0x80000001;

constexpr X86Feature kFeatures[] = {
    {"adx", 7, 0, 1, 19, 0},
    {"aes", 1, 0, 2, 25, 0},
    {"amx-bf16", 7, 0, 3, 22, kTiles},
    {"amx-fp16", 7, 1, 0, 21, kTiles},
    {"amx-int8", 7, 0, 3, 25, kTiles},
    {"amx-tile", 7, 0, 3, 24, kTiles},
    {"avx", 1, 0, 2, 28, kYmm},
    {"avx2", 7, 0, 1, 5, kYmm},
    {"avx512bf16", 7, 1, 0, 5, kZmm},
    {"avx512bitalg", 7, 0, 2, 12, kZmm},
    {"avx512bw", 7, 0, 1, 30, kZmm},
    {"avx512cd", 7, 0, 1, 28, kZmm},
    {"avx512dq", 7, 0, 1, 17, kZmm},
    {"avx512f", 7, 0, 1, 16, kZmm},
    {"avx512fp16", 7, 0, 3, 23, kZmm},
    {"avx512ifma", 7, 0, 1, 21, kZmm},
    {"avx512vbmi", 7, 0, 2, 1, kZmm},
    {"avx512vbmi2", 7, 0, 2, 6, kZmm},
    {"avx512vl", 7, 0, 1, 31, kZmm},
    {"avx512vnni", 7, 0, 2, 11, kZmm},
    {"avx512vp2intersect", 7, 0, 3, 8, kZmm},
    {"avx512vpopcntdq", 7, 0, 2, 14, kZmm},
    {"avxifma", 7, 1, 0, 23, kYmm},
    {"avxneconvert", 7, 1, 3, 5, kYmm},
    {"avxvnni", 7, 1, 0, 4, kYmm},
    {"avxvnniint16", 7, 1, 3, 10, kYmm},
    {"avxvnniint8", 7, 1, 3, 4, kYmm},
    {"bmi", 7, 0, 1, 3, 0},
    {"bmi2", 7, 0, 1, 8, 0},
    {"cx16", 1, 0, 2, 13, 0},
    {"f16c", 1, 0, 2, 29, kYmm},
    {"fma", 1, 0, 2, 12, kYmm},
    {"fma4", kExtended, 0, 2, 16, kYmm},
    {"gfni", 7, 0, 2, 8, 0},
    {"lzcnt", kExtended, 0, 2, 5, 0},
    {"movbe", 1, 0, 2, 22, 0},
    {"pclmul", 1, 0, 2, 1, 0},
    {"popcnt", 1, 0, 2, 23, 0},
    {"sha", 7, 0, 1, 29, 0},
    {"sse3", 1, 0, 2, 0, 0},
    {"sse4.1", 1, 0, 2, 19, 0},
    {"sse4.2", 1, 0, 2, 20, 0},
    {"sse4a", kExtended, 0, 2, 6, 0},
    {"ssse3", 1, 0, 2, 9, 0},
    {"vaes", 7, 0, 2, 9, kYmm},
    {"vpclmulqdq", 7, 0, 2, 10, kYmm},
    {"xop", kExtended, 0, 2, 11, kYmm},
};

}  // namespace

std::span<const X86Feature> x86_features() { return kFeatures; }

}  // namespace tensmith
