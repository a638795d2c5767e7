# The common part of the scripts: installing what is missing, configuring and building. Sourced, not
# run.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc)

# Without these ccache keeps nothing that was compiled with precompiled headers.
export CCACHE_SLOPPINESS=pch_defines,time_macros

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# Debian and Ubuntu names; `command:package` where any copy of the command will do.
build_packages=(cmake:cmake ninja:ninja-build libsqlite3-dev libsqlitecpp-dev libcli11-dev
  libeigen3-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libexpected-dev libsodium-dev
  libxxhash-dev)
test_packages=(libgmock-dev coinor-libcbc-dev pkg-config:pkgconf groff:groff-base dpkg-shlibdeps:dpkg-dev file:file
  clang-format:clang-format clang-tidy:clang-tidy shellcheck:shellcheck
  python3:python3 python3-pip python3-setuptools python3-wheel mypy:mypy valgrind:valgrind
  node:nodejs npm:npm chromium:chromium)
benchmark_packages=(libbenchmark-dev)

# The compiler: $CXX, or the first g++ of version 12 or later; empty if there is none.
compiler() {
  local candidate
  for candidate in ${CXX:-g++ g++-15 g++-14 g++-13 g++-12}; do
    if [[ -n ${CXX:-} ]]; then
      echo "$candidate"
      return
    elif command -v "$candidate" > /dev/null &&
      (($("$candidate" -dumpversion | cut -d. -f1) >= 12)); then
      echo "$candidate"
      return
    fi
  done
}

# Prints the given packages that are not installed.
missing_of() {
  local item
  for item in "$@"; do
    if [[ $item == *:* ]]; then
      command -v "${item%%:*}" > /dev/null || echo "${item#*:}"
    elif ! dpkg-query --show --showformat='${db:Status-Status}' "$item" 2> /dev/null |
      grep -qx installed; then
      echo "$item"
    fi
  done
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -n "$@"; fi
}

apt_install() {
  (($# == 0)) || as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq --yes --no-install-recommends "$@" > /dev/null
}

# Installs the given packages that are missing. It asks nothing: where it may not install, it ends with
# the command to run. A package that the distribution does not have is left to CMake, which then
# downloads its pinned release.
fetch=OFF
install_missing() {
  # On systems without Debian's tools, CMake says what is missing.
  command -v apt-get > /dev/null && command -v dpkg-query > /dev/null || return 0
  local missing wanted=() package
  mapfile -t missing < <(missing_of "$@")
  if [[ -z $(compiler) ]]; then  # g++, or a later one where g++ is there and too old
    if command -v g++ > /dev/null; then missing+=(g++-12); else missing+=(g++); fi
  fi
  ((${#missing[@]} > 0)) || return 0
  if ((EUID != 0)) && ! sudo -n true 2> /dev/null; then
    die "packages are missing; run this line, then try again:
sudo apt-get update && sudo apt-get install --yes --no-install-recommends ${missing[*]}"
  fi
  say "installing: ${missing[*]}"
  as_root apt-get update -qq || say "apt-get update failed; going on with the lists that are here"
  for package in "${missing[@]}"; do
    if apt-cache show --quiet=2 "$package" > /dev/null 2>&1; then
      wanted+=("$package")
    else
      say "$package is not in this distribution: CMake downloads a pinned release of it"
      fetch=ON
    fi
  done
  apt_install "${wanted[@]}"
  if [[ -z $(compiler) ]]; then
    apt_install g++-12
  fi
}

# configure PRESET [-DNAME=VALUE ...]: configures build/PRESET.
configure() {
  local preset=$1
  shift
  if [[ ! -f $root/build/$preset/CMakeCache.txt ]]; then
    local cxx
    cxx=$(compiler)
    set -- ${cxx:+-DCMAKE_CXX_COMPILER="$cxx"} "$@"
    if command -v ccache > /dev/null; then
      set -- -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "$@"
    fi
  fi
  if [[ $fetch == ON ]]; then
    set -- -DOVERLAPTUNE_FETCH=ON "$@"
  fi
  (cd "$root" && cmake --preset "$preset" --log-level=NOTICE "$@" > /dev/null)
}

# build PRESET [TARGET ...]
build() {
  local preset=$1
  shift
  cmake --build "$root/build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}

# Prints the program's own files that end in .SUFFIX, for each given suffix.
sources_of() {
  local suffix names=()
  for suffix in "$@"; do names+=(-o -name "*.$suffix"); done
  find "$root" \( -path "$root/build*" -o -path "$root/.*" \) -prune -o \
    -type f \( "${names[@]:1}" \) -print | sort
}
