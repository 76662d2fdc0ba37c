#include "costmodel/features/linear_index.h"

#include <algorithm>
#include <cmath>

namespace tensmith {

void LinearIndex::add(int level, const LinearTerm& term, double scale) {
  if (level >= kMaxLevels || scale == 0) return;
  const LinearTerm scaled{term.stride * scale, term.steps, term.range * std::abs(scale), term.mod};
  const uint64_t bit = uint64_t{1} << level;
  if ((used & bit) == 0) {
    used |= bit;
    terms[level] = scaled;
    return;
  }
  LinearTerm& mine = terms[level];
  if (mine.mod == 0 && scaled.mod == 0) {
    // Two terms of one variable that both run through: they add up, x - x to nothing.
    const bool same_steps = mine.steps == scaled.steps;
    mine.stride += scaled.stride;
    mine.steps = std::max(mine.steps, scaled.steps);
    mine.range = same_steps ? std::abs(mine.stride) * (mine.steps - 1) : mine.range + scaled.range;
    if (mine.stride == 0) used &= ~bit;
    return;
  }
  // x / 8 * 100 + x % 8 and the like: together they take every step, most of which move as the remainder does.
  const bool mine_wraps = mine.mod != 0 && (scaled.mod == 0 || mine.mod <= scaled.mod);
  mine.steps *= scaled.steps;
  mine.range += scaled.range;
  mine.stride = mine_wraps ? mine.stride : scaled.stride;
  mine.mod = mine_wraps ? mine.mod : scaled.mod;
}

void LinearIndex::add(const LinearIndex& other, double scale) {
  constant += scale * other.constant;
  gather = gather || other.gather;
  other.for_each_level([&](int level) { add(level, other.terms[level], scale); });
}

void LinearIndex::divide(double divisor) {
  uint64_t kept = 0;
  for_each_level([&](int level) {
    LinearTerm& term = terms[level];
    term.stride /= divisor;
    term.range /= divisor;
    if (std::abs(term.stride) < 1) term.steps = std::min(term.steps, std::floor(term.range) + 1);
    // A variable that stays below the divisor moves the quotient only by carry, which the others' range covers.
    if (term.steps > 1) kept |= uint64_t{1} << level;
  });
  used = kept;
  constant = std::floor(constant / divisor);
}

void LinearIndex::modulo(double divisor) {
  if (low() >= 0 && high() < divisor) return;
  uint64_t kept = 0;
  // All terms together cover at most the divisor; the inner loops come first.
  double room = divisor - 1;
  for (uint64_t rest = used; rest != 0;) {
    const int level = 63 - std::countl_zero(rest);
    const uint64_t bit = uint64_t{1} << level;
    rest &= ~bit;
    LinearTerm& term = terms[level];
    const double size = std::abs(term.stride);
    if (std::fmod(size, divisor) == 0) continue;
    if (term.range >= divisor) {
      const double period = std::ceil(divisor / size);
      const double distinct = size < divisor ? std::ceil(divisor / std::max(size, 1.0)) : divisor;
      term.mod = term.mod == 0 ? period : std::min(term.mod, period);
      term.steps = std::min(term.steps, distinct);
      term.range = std::max(size, 1.0) * (term.steps - 1);
    }
    term.range = std::min(term.range, room);
    room -= term.range;
    if (term.steps > 1) kept |= bit;
  }
  used = kept;
  constant -= std::floor(constant / divisor) * divisor;
}

void LinearIndex::merge(const LinearIndex& other) {
  gather = gather || other.gather;
  other.for_each_level([&](int level) {
    const uint64_t bit = uint64_t{1} << level;
    if ((used & bit) == 0 || terms[level].range < other.terms[level].range) terms[level] = other.terms[level];
    used |= bit;
  });
}

double LinearIndex::low() const {
  double value = constant;
  for_each_level([&](int level) {
    if (terms[level].stride < 0) value -= terms[level].range;
  });
  return value;
}

double LinearIndex::high() const {
  double value = constant;
  for_each_level([&](int level) {
    if (terms[level].stride > 0) value += terms[level].range;
  });
  return value;
}

}  // namespace tensmith
