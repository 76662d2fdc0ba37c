#pragma once

#include <bit>
#include <cstdint>

namespace tensmith {

/// What an integer expression does when one loop variable steps. Without default values: arrays of these are on the hot
/// path and mostly unused.
struct LinearTerm {
  double stride;  ///< mean change of the value in one step
  double steps;   ///< distinct values that the variable alone gives it
  double range;   ///< largest minus smallest of them
  double mod;     ///< steps after which a modulo wraps it around, 0 for none
};

/// An integer expression as a sum of one term a loop plus a constant. Loops are numbered by their level, outermost 0;
/// those deeper than kMaxLevels count as constant.
struct LinearIndex {
  static constexpr int kMaxLevels = 64;

  uint64_t used = 0;  ///< bit l: the term of level l is there
  bool gather = false;
  double constant = 0;
  LinearTerm terms[kMaxLevels];  // NOLINT: terms not in `used` are never read, so never written

  LinearIndex() {}  // NOLINT: see terms

  void clear() {
    used = 0;
    gather = false;
    constant = 0;
  }

  /// Adds `scale` times a term.
  void add(int level, const LinearTerm& term, double scale);
  /// Adds `scale` times another expression.
  void add(const LinearIndex& other, double scale);
  /// Floor division and modulo by a positive constant.
  void divide(double divisor);
  void modulo(double divisor);
  /// Takes the stronger term of the two at each level: one of two expressions, not known which.
  void merge(const LinearIndex& other);
  /// Bounds of the value, taking every loop from its start to its end.
  double low() const;
  double high() const;

  template <typename F>
  void for_each_level(F&& f) const {
    for (uint64_t rest = used; rest != 0; rest &= rest - 1) f(std::countr_zero(rest));
  }
};

}  // namespace tensmith
