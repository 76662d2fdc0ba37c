#!/usr/bin/env bash
# Builds everything and runs all tests: the release build's suite, the tests labelled `sanitize` once more under the address
# and undefined-behaviour sanitizers, and those labelled `threads` under the thread sanitizer. The main suite runs last.
#
#   scripts/test.sh [--fast] [--no-install]
#
# --fast        leaves the sanitizer builds out
# --no-install  does not look for missing packages
# TENSMITH_JOBS sets how many compilers and tests run at once (default: one a core).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fast=false
install=true
for option in "$@"; do
  case "$option" in
    --fast) fast=true ;;
    --no-install) install=false ;;
    *)
      echo "usage: scripts/test.sh [--fast] [--no-install]" >&2
      exit 2
      ;;
  esac
done
jobs=${TENSMITH_JOBS:-$(nproc)}

step() { printf '\n== %s (%ds)\n' "$1" "$SECONDS"; }

# configure_and_build PRESET [build options]: output is kept back unless it fails, or a person watches.
configure_and_build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  if [ -t 1 ] && [ "${CI:-}" != true ]; then
    cmake --preset "$preset" && cmake --build --preset "$preset" --parallel "$jobs" "$@"
  elif ! { cmake --preset "$preset" && cmake --build --preset "$preset" --parallel "$jobs" "$@"; } >"$log" 2>&1 </dev/null; then
    grep -E -B2 -A12 'error|Error|FAILED' "$log" | tail -n 200 || true
    tail -n 20 "$log"
    rm -f "$log"
    echo "error: the $preset build failed" >&2
    return 1
  fi
  rm -f "$log"
}

run_tests() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$jobs" "$@" </dev/null
}

if $install; then
  step "packages"
  scripts/install_packages.sh
fi

step "release build"
configure_and_build release

if ! $fast; then
  # GoogleTest's own checks and ours stay quiet; a finding ends the test program.
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:abort_on_error=0
  export UBSAN_OPTIONS=print_stacktrace=1
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  # Another order of the tests each time (its seed is printed): what one test leaves behind hides the faults of the next.
  export GTEST_SHUFFLE=1
  # preset:label. Code of one thread has nothing to show to the thread sanitizer.
  for selection in asan-ubsan:sanitize tsan:threads; do
    preset=${selection%:*} label=${selection#*:}
    step "$preset build"
    configure_and_build "$preset" --target "${label}_tests"
    step "$preset tests"
    run_tests "$preset" --label-regex "^$label$"
  done
  unset GTEST_SHUFFLE
fi

step "tests"
run_tests release
