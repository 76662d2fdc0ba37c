#!/usr/bin/env bash
# Measures what Tensmith promises (bench/README.md), each part by itself:
#
#   bench/bars.sh [PART...]      parts: conv matmul defaults search layers speed candidates memory prime spread races landscape
#                                (default: all)
#
# Needs a machine that does nothing else. BUILD (default build/release) is a Release build; WORK (default build/bars) keeps the
# databases, so that a part run again goes on with its trials: remove it for a fresh measurement.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${BUILD:-build/release}
work=${WORK:-build/bars}
tensmith=$build/bin/tensmith
ahead=layout=nchw16c,weights=packed
mkdir -p "$work"

say() { printf '\n== %s\n' "$*"; }
# The last row of a table, the one workload's: other lines go on with a colon or a comma behind the name.
row() { grep -E '^(resnet18|matmul|conv2d)[^ ]*[^ :,] ' | tail -n 1; }
tune() { "$tensmith" tune "$@" --threads=1 2>/dev/null | row; }
bench() { "$tensmith" bench "$@" --threads=1 2>/dev/null | row; }
median() { sort -g | awk '{v[NR] = $1} END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'; }

conv() {
  say "conv2d against oneDNN, 256 trials, one thread, blocked, weights ahead (bar 0.85)"
  for layer in C6 C9; do
    tune "resnet18.$layer:$ahead" --trials=256 --db="$work/conv.db" >/dev/null
    bench "resnet18.$layer:$ahead" --db="$work/conv.db" --against=onednn
  done
}

matmul() {
  say "matmul 1024^3 against OpenBLAS, 256 trials, one thread (bar 0.9)"
  tune matmul-1024 --trials=256 --db="$work/matmul.db" >/dev/null
  bench matmul-1024 --db="$work/matmul.db" --against=openblas
}

defaults() {
  say "default configs against oneDNN, C2..C12, one thread, blocked, weights ahead (bar 0.4)"
  for i in 2 3 4 5 6 7 8 9 10 11 12; do
    bench "resnet18.C$i:$ahead" --config=default --against=onednn --rounds=10
  done
}

search() {
  say "128 trials with the model against 512 at random (bar: median of 5 seeds 0.99)"
  for workload in "resnet18.C6:$ahead" matmul-1024; do
    local name=${workload%%:*} ratios=""
    tune "$workload" --strategy=random --seed=100 --trials=512 --db="$work/random-$name.db" >/dev/null
    for seed in 1 2 3 4 5; do
      local db=$work/model-$name-$seed.db line
      tune "$workload" --seed="$seed" --trials=128 --db="$db" >/dev/null
      line=$(bench "$workload" --db="$db" --against="db:$work/random-$name.db" --rounds=20)
      echo "$line"
      ratios+="$(awk '{print $(NF - 1)}' <<<"$line")"$'\n'
    done
    echo "$name: median $(printf %s "$ratios" | median)"
  done
}

layers() {
  say "every layer in both layouts and matmul-1024, 64 trials each, one thread: trials by status (bar: no wrong output)"
  for workload in resnet18 resnet18:layout=nchw,weights=plain matmul-1024; do
    "$tensmith" tune "$workload" --trials=64 --threads=1 --db="$work/layers.db" >/dev/null 2>&1 || true
  done
  "$tensmith" db export --db="$work/layers.db" --format=csv | sed 's/"[^"]*"/text/g' |
    awk -F, '$1 == "trial" {++n[$8]} END {for (s in n) print s ": " n[s]}'
}

speed() {
  say "tuning speed on C6: trials, valid, seconds of a run of 256 (bar 8 trials a second)"
  rm -f "$work/speed.db"
  tune "resnet18.C6:$ahead" --trials=256 --db="$work/speed.db" |
    awk '{print $(NF - 3), $(NF - 2), $(NF - 1) ": " $(NF - 3) / $(NF - 1) " trials/s"}'
}

candidates() {
  say "candidates a second on one core (bar 20,000)"
  "$build/bin/candidate_bench" --benchmark_min_time=2 2>/dev/null | grep items_per_second
}

memory() {
  say "5,000 trials: resident memory of the tuner in MiB, one line each 500 trials (bar: flat, under 1024)"
  rm -f "$work/memory.db"
  "$tensmith" tune "conv2d:n=1,c=32,h=14,w=14,k=32,r=3,s=3,pad=1,$ahead" --trials=5000 --threads=1 --db="$work/memory.db" >/dev/null 2>&1 &
  local pid=$! next=500 done=0
  while kill -0 "$pid" 2>/dev/null; do
    [ -f "$work/memory.db" ] && done=$(wc -l <"$work/memory.db")
    if [ "$done" -ge "$next" ]; then
      awk -v n="$done" '/VmRSS/ {r = $2} /VmHWM/ {h = $2} END {printf "%d trials: %d, highest %d\n", n, r / 1024, h / 1024}' "/proc/$pid/status" || true
      next=$((next + 500))
    fi
    sleep 1
  done
  wait "$pid"
}

prime() {
  say "conv2d of prime extents against the next shape that divides well, GFLOP/s (bar 0.8)"
  for shape in n=2,c=13,h=71,w=59,k=16 n=2,c=16,h=72,w=64,k=16; do
    tune "conv2d:$shape,r=3,s=3,pad=1" --trials=192 --db="$work/prime.db" >/dev/null
    bench "conv2d:$shape,r=3,s=3,pad=1" --db="$work/prime.db"
  done
}

spread() {
  say "C6 space: best and median of 512 random configs, ms (bar: the median is over twice the best)"
  local db="$work/random-resnet18.C6.db"
  tune "resnet18.C6:$ahead" --strategy=random --seed=100 --trials=512 --db="$db" >/dev/null
  "$tensmith" db export --db="$db" --format=csv | sed 's/"[^"]*"/text/g' |
    awk -F, '$1 == "kind" {for (i = 1; i <= NF; ++i) if ($i == "seconds") c = i} $1 == "trial" && $c > 0 {print 1e3 * $c}' |
    sort -g | awk '{v[NR] = $1} END {print NR " valid, best " v[1] ", median " v[int((NR + 1) / 2)] ": " v[int((NR + 1) / 2)] / v[1]}'
}

races() {
  local spaces=${TENSMITH_SPACES:-../shared/spaces}
  if [ ! -d "$spaces" ]; then
    say "races: no recorded spaces in $spaces"
    return
  fi
  say "searches of recorded spaces: random sampling against its expectation, all against the published results"
  TENSMITH_SPACES=$spaces "$build/bin/race_bars" random 2>/dev/null || true
  TENSMITH_SPACES=$spaces "$build/bin/race_bars" published 2>/dev/null || true
  say "a race of the algorithms without a model: 26 spaces, 7 budgets, 50 runs (bar 900 s on 2 cores)"
  "$tensmith" race "$spaces"/mean/*.json.gz --algorithms=no-model --threads=2 --json 2>/dev/null |
    sed 's/.*"seconds":\([0-9.]*\).*/\1 s/'
}

landscape() {
  say "landscapes on two threads: the largest recorded space (bar 2 s), ten million points in memory (bar 90 s, 4096 MiB)"
  "$build/bin/landscape_bars"
}

if [ $# -eq 0 ]; then
  set -- conv matmul defaults search layers speed candidates memory prime spread races landscape
fi
for part in "$@"; do
  case "$part" in
    conv | matmul | defaults | search | layers | speed | candidates | memory | prime | spread | races | landscape) "$part" ;;
    *)
      echo "usage: bench/bars.sh [conv|matmul|defaults|search|layers|speed|candidates|memory|prime|spread|races|landscape]..." >&2
      exit 2
      ;;
  esac
done
