#include "codegen/cases.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace tensmith::test {
namespace {

void strided_loads(Cases& cases) {
  for (int stride : {0, 1, 2, 3, 5, -1, -2}) {
    const int extent = 1 + std::abs(stride) * 7;
    cases.add_for_elements(
        fmt::format("func f(A: TYPE[{}] global, out C: TYPE[8] global):\n"
                    "  C[ramp(0, 1, 8)] = A[ramp({}, {}, 8)]\n",
                    extent, stride < 0 ? extent - 1 : 0, stride));
  }
}

void strided_stores(Cases& cases) {
  for (int stride : {1, 2, 3, -1, -3}) {
    const int extent = 1 + std::abs(stride) * 7;
    cases.add_for_elements(
        fmt::format("func f(A: TYPE[8] global, out C: TYPE[{}] global):\n"
                    "  C[ramp({}, {}, 8)] = A[ramp(0, 1, 8)]\n",
                    extent, stride < 0 ? extent - 1 : 0, stride));
  }
}

void general_vector_index(Cases& cases) {
  cases.add_for_elements(
      "func f(A: TYPE[20] global, I: int32[8] global, out C: TYPE[8] global):\n"
      "  for i in [0, 2):\n"
      "    C[ramp(i*4, 1, 4)] = A[ramp(i, 1, 4) % broadcast(3, 4) + ramp(i*4, 3, 4) / broadcast(2, 4)]\n");
  cases.add_for_elements(
      "func f(A: TYPE[8] global, out C: TYPE[40] global):\n"
      "  C[ramp(0, 3, 8) / broadcast(2, 8)] = A[ramp(0, 1, 8)]\n");
}

void index_read_from_memory(Cases& cases) {
  cases.add(
      "func f(A: float32[9] global, I: uint8[8] global, out C: float32[16] global):\n"
      "  C[ramp(0, 1, 8)] = A[I[ramp(0, 1, 8)]]\n"
      "  for i in [0, 8):\n"
      "    C[8 + i] = A[I[7 - i]]\n");
}

void masked_tails(Cases& cases) {
  // 13 elements in vectors of 8: lanes beyond the end are neither read nor written, and lie in front of a guard page.
  for (int count : {1, 5, 8, 13, 15, 16}) {
    cases.add_for_elements(
        fmt::format("func f(A: TYPE[{0}] global, out C: TYPE[{0}] global):\n"
                    "  for i in [0, {1}):\n"
                    "    C[ramp(i*8, 1, 8) if ramp(i*8, 1, 8) < broadcast({0}, 8)] = "
                    "A[ramp(i*8, 1, 8) if ramp(i*8, 1, 8) < broadcast({0}, 8)]\n",
                    count, (count + 7) / 8));
  }
}

void masked_odd_lanes(Cases& cases) {
  for (int lanes : {2, 3, 5, 12}) {
    cases.add_for_elements(
        fmt::format("func f(A: TYPE[{0}] global, out C: TYPE[{0}] global):\n"
                    "  for i in [0, {1}):\n"
                    "    C[ramp(i*{2}, 1, {2}) if ramp(i*{2}, 1, {2}) < broadcast({0}, {2})] = "
                    "A[ramp(i*{2}, 1, {2}) if ramp(i*{2}, 1, {2}) < broadcast({0}, {2})]\n",
                    31, (31 + lanes - 1) / lanes, lanes));
  }
}

void branches_that_share_addresses(Cases& cases) {
  cases.add(
      "func f(A: float32[8, 6, 8] global, I: int32[8] global, out C: float32[8, 6, 8] global):\n"
      "  for z in [0, 8):\n"
      "    for y in [0, 6):\n"
      "      if I[z] > 0:\n"
      "        for x in [0, 8):\n"
      "          C[z, y, x] = A[z, y, 7 - x]\n"
      "      else:\n"
      "        C[z, y, 3] = A[z, y, 2]\n"
      "        for x in [0, 2):\n"
      "          if int64(I[x]) > y:\n"
      "            C[z, y, x] = A[z, 5 - y, x*2 + 1]\n"
      "          else:\n"
      "            C[z, y, x] = A[z, y, x*2 + 1] + A[x, y, z]\n"
      "      C[z, y, 0] = A[z, y, 0]\n");
}

void masked_strided_access(Cases& cases) {
  for (int stride : {0, 2, 3, -1}) {
    cases.add_for_elements(
        fmt::format("func f(A: TYPE[64] global, M: int32[8] global, out C: TYPE[64] global, out D: TYPE[8] global):\n"
                    "  D[ramp(0, 1, 8)] = A[ramp(40, {0}, 8) if M[ramp(0, 1, 8)] > broadcast(0i32, 8)]\n"
                    "  C[ramp(40, {1}, 8) if M[ramp(0, 1, 8)] > broadcast(2i32, 8)] = A[ramp(0, 1, 8)]\n",
                    stride, stride == 0 ? 1 : stride));
  }
}

void scalar_predicates(Cases& cases) {
  cases.add_for_elements(
      "func f(A: TYPE[5] global, out C: TYPE[5] global, out D: TYPE[9] global):\n"
      "  for i in [0, 9):\n"
      "    D[i] = A[i if i < 5]\n"
      "    C[i if i < 5 and i != 2] = A[i if i < 5]\n");
}

void lazy_select_of_scalars(Cases& cases) {
  cases.add_for_elements(
      "func f(A: TYPE[6] global, out C: TYPE[10] global):\n"
      "  for i in [0, 10):\n"
      "    C[i] = select(i >= 2 and i < 8, A[i - 2], A[0])\n");
}

void lazy_select_of_vectors(Cases& cases) {
  cases.add_for_elements(
      "func f(A: TYPE[6] global, out C: TYPE[16] global):\n"
      "  for i in [0, 2):\n"
      "    C[ramp(i*8, 1, 8)] = select(ramp(i*8 - 2, 1, 8) >= broadcast(0, 8) and ramp(i*8 - 2, 1, 8) < broadcast(6, "
      "8), "
      "A[ramp(i*8 - 2, 1, 8)], A[broadcast(0, 8)])\n");
  // A broadcast of a value that may only be read where a lane wants it.
  cases.add_for_elements(
      "func f(A: TYPE[2] global, out C: TYPE[32] global):\n"
      "  for i in [0, 4):\n"
      "    C[ramp(i*8, 1, 8)] = select(ramp(i*8, 1, 8) < broadcast(13, 8), broadcast(A[i], 8), A[broadcast(0, 8)])\n");
}

void nested_selects(Cases& cases) {
  cases.add(
      "func f(A: float32[10] global, out C: float32[64] global):\n"
      "  for i in [0, 8):\n"
      "    C[ramp(i*8, 1, 8)] = select(ramp(i*8, 1, 8) < broadcast(40, 8), select(ramp(i*8, 1, 8) < broadcast(10, 8), "
      "A[ramp(i*8, 1, 8)], select(broadcast(i > 2, 8), broadcast(A[i], 8), broadcast(1.0, 8))), broadcast(2.0, 8))\n");
}

void condition_of_one_lane(Cases& cases) {
  cases.add(
      "func f(A: float32[16] global, out C: float32[32] global):\n"
      "  for i in [0, 4):\n"
      "    C[ramp(i*8, 1, 8)] = select(i < 2, A[ramp(i*8, 1, 8)], broadcast(7.0, 8))\n");
}

void several_dimensions_and_strides(Cases& cases) {
  cases.add_for_elements(
      "func f(A: TYPE[3, 5, 8] global, B: TYPE[3, 5] global strides [16, 3], out C: TYPE[5, 3, 8] global):\n"
      "  for y in [0, 3):\n"
      "    for x in [0, 5):\n"
      "      C[x, y, ramp(0, 1, 8)] = select(B[y, x] == B[0, 0], A[y, x, ramp(0, 1, 8)], A[0, x, ramp(0, 1, 8)])\n");
}

void terms_of_unrolled_variables(Cases& cases) {
  // The same expression is another value in each iteration, also where it does not change with the inner loop.
  cases.add(
      "func f(A: float32[32] global, out C: float32[96] global):\n"
      "  for y in [0, 8):\n"
      "    unrolled u in [0, 3):\n"
      "      for x in [0, 4):\n"
      "        C[y*12 + x*3 + u] = A[min(y + u, 5)*4 + x]\n");
  cases.add(
      "func f(A: float32[32] global, out C: float32[96] global):\n"
      "  for y in [0, 8):\n"
      "    for x in [0, 4):\n"
      "      unrolled u in [0, 3):\n"
      "        C[y*12 + x*3 + u] = A[min(y + u, 5)*4 + x]\n");
}

void rank_zero(Cases& cases) {
  cases.add(
      "func f(A: float32[] global, out C: float32[] global):\n"
      "  C[] = A[] + A[]\n");
}

void empty_buffers(Cases& cases) {
  cases.add(
      "func f(A: float32[0] global, out C: float32[0, 4] global):\n"
      "  for i in [0, 0):\n"
      "    C[i, 0] = A[i]\n");
}

void store_reads_what_it_overwrites(Cases& cases) {
  cases.add(
      "func f(A: float32[16] global, out C: float32[16] global):\n"
      "  C[ramp(0, 1, 16)] = A[ramp(0, 1, 16)]\n"
      "  C[ramp(1, 1, 8)] = C[ramp(0, 1, 8)]\n"
      "  C[ramp(15, -1, 16)] = C[ramp(0, 1, 16)]\n");
}

void narrow_indices(Cases& cases) {
  cases.add(
      "func f(A: float32[64] global, out C: float32[64] global):\n"
      "  for y: int32 in [0, 8):\n"
      "    for x: int32 in [0, 2):\n"
      "      C[ramp(y*8 + x*4, 1, 4)] = A[ramp(60 - y*8 + x*4 - 4 - x*8 + 4, 1, 4)]\n");
}

constexpr CaseGroup kGroups[] = {
    {"StridedLoads", &strided_loads},
    {"StridedStores", &strided_stores},
    {"GeneralVectorIndex", &general_vector_index},
    {"IndexReadFromMemory", &index_read_from_memory},
    {"MaskedTails", &masked_tails},
    {"MaskedOddLanes", &masked_odd_lanes},
    {"BranchesThatShareAddresses", &branches_that_share_addresses},
    {"MaskedStridedAccess", &masked_strided_access},
    {"ScalarPredicates", &scalar_predicates},
    {"LazySelectOfScalars", &lazy_select_of_scalars},
    {"LazySelectOfVectors", &lazy_select_of_vectors},
    {"NestedSelects", &nested_selects},
    {"ConditionOfOneLane", &condition_of_one_lane},
    {"SeveralDimensionsAndStrides", &several_dimensions_and_strides},
    {"TermsOfUnrolledVariables", &terms_of_unrolled_variables},
    {"RankZero", &rank_zero},
    {"EmptyBuffers", &empty_buffers},
    {"StoreReadsWhatItOverwrites", &store_reads_what_it_overwrites},
    {"NarrowIndices", &narrow_indices},
};

}  // namespace

void Cases::add_for_elements(const std::string& pattern) {
  for (const char* type : {"float32", "float64", "int8", "uint16", "int64", "bool", "float16"}) {
    std::string text = pattern;
    for (size_t at; (at = text.find("TYPE")) != std::string::npos;) text.replace(at, 4, type);
    add(std::move(text));
  }
}

std::span<const CaseGroup> memory_groups() { return kGroups; }

}  // namespace tensmith::test
