#!/usr/bin/env bash
# Installs the Debian packages that Tensmith is built from and tested with. Does nothing when all are there.
# Works as root or through sudo, and never asks a question.
set -euo pipefail

packages=(
  # compilers and build tools
  g++ cmake ninja-build ccache lld-19
  # code generation
  llvm-19-dev zlib1g-dev libzstd-dev
  # learned cost model
  libxgboost-dev
  # records, command line, logging, formatting, dense algebra
  libprotobuf-dev protobuf-compiler nlohmann-json3-dev libcli11-dev libfmt-dev libspdlog-dev libeigen3-dev libboost-dev
  # benchmark peers
  libdnnl-dev libopenblas-dev libbenchmark-dev
  # tests: a unit-test library, and OpenCL on this CPU
  libgtest-dev ocl-icd-libopencl1 pocl-opencl-icd
)
for option in "$@"; do
  case "$option" in
    --dev) packages+=(clang-format clang-tidy valgrind) ;;  # what a contributor uses besides
    *)
      echo "usage: scripts/install_packages.sh [--dev]" >&2
      exit 2
      ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

echo "installing: ${missing[*]}"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "error: these packages are missing: ${missing[*]}; run scripts/install_packages.sh as root" >&2
    exit 1
  fi
  sudo=(sudo)
fi
apt() {
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}
apt update
apt install --no-install-recommends "${missing[@]}"
