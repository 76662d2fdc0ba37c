#!/usr/bin/env bash
# Formats all C++ sources with clang-format; --check only tells which files would change.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(-i)
case "${1:-}" in
  "") ;;
  --check) mode=(--dry-run --Werror) ;;
  *)
    echo "usage: scripts/format.sh [--check]" >&2
    exit 2
    ;;
esac
git ls-files -z -- '*.h' '*.cpp' | xargs -0 -r clang-format "${mode[@]}"
