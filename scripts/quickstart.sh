#!/usr/bin/env bash
# From a fresh machine to tuned operators: installs what is missing, builds the command line and tunes for this CPU one
# convolution of ResNet-18, whose default is good already, and a dense layer that is given as an index expression. Takes
# under 15 minutes on two cores; run again, it goes on with what is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'EOF'
usage: scripts/quickstart.sh [WORKLOAD]

WORKLOAD is what `tensmith tune` takes (default: resnet18.C6, and then a dense layer as an expression). From the environment:
  TRIALS   programs measured of each (default 128)
  THREADS  threads of the operator (default 1)
  DB       where the measurements are kept (default build/quickstart.db)
EOF
}
refuse() {
  echo "error: $1" >&2
  usage >&2
  exit 2
}

case "${1:-}" in
  -h | --help)
    usage
    exit 0
    ;;
  -*) refuse "unknown option '$1'" ;;
esac
[ $# -le 1 ] || refuse "one workload at a time"

db=${DB:-build/quickstart.db}

echo "== 1/3 packages"
scripts/install_packages.sh

echo "== 2/3 build"
cmake --preset release >/dev/null </dev/null
cmake --build --preset release --parallel "$(nproc)" --target tensmith tensmith-peer </dev/null

tune() {
  build/release/bin/tensmith tune "$@" --target=llvm --trials="${TRIALS:-128}" --threads="${THREADS:-1}" --db="$db" </dev/null
}
echo "== 3/3 tuning ${1:-resnet18.C6}"
tune "${1:-resnet18.C6}"
if [ $# -eq 0 ]; then
  echo
  tune --expr 'R[y,x] = max(sum(k: A[y,k]*B[k,x]) + b[x], 0)' --shape A=512x512 --shape B=512x512 --shape b=512
fi

cat <<EOF

The program is build/release/bin/tensmith, the measurements are in $db. Run this again with a larger TRIALS to search on.
EOF
