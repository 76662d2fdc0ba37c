#!/usr/bin/env bash
# From a fresh machine to a tuned operator: installs what is missing, builds the command line and tunes one convolution
# of ResNet-18 for this CPU. Takes under 15 minutes on two cores; run again, it goes on with what is there.
#
#   scripts/quickstart.sh [WORKLOAD]
#
# WORKLOAD defaults to resnet18.C6. TRIALS (default 128) is how many programs are measured in all; DB (default
# build/quickstart.db) is where the measurements are kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

workload=${1:-resnet18.C6}
db=${DB:-build/quickstart.db}

echo "== 1/3 packages"
scripts/install_packages.sh

echo "== 2/3 build"
cmake --preset release >/dev/null </dev/null
cmake --build --preset release --parallel "$(nproc)" --target tensmith tensmith-peer </dev/null

echo "== 3/3 tuning $workload"
tensmith=build/release/bin/tensmith
"$tensmith" tune "$workload" --target=llvm --trials="${TRIALS:-128}" --db="$db" </dev/null

cat <<EOF

The measurements are in $db. Run this again with a larger TRIALS to search on, or look closer:
  $tensmith show $workload --db=$db --as=schedule
  $tensmith bench $workload --db=$db
EOF
