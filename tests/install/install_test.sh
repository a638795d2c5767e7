#!/usr/bin/env bash
# Installs a build, moves the installed tree, and builds and runs examples/query.c against it:
#   install_test.sh BUILD C_COMPILER CXX_COMPILER
set -euo pipefail

build=$1 cc=$2 cxx=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
installed=$work/moved

fail() { echo "FAILED: $*"; exit 1; }

# answers NAME PROGRAM...: checks that the program prints the tuned problem's answer.
answers() {
  local name=$1 output
  shift
  output=$("$@" "$work/tuned.db" 4096 8192 3584 8 h200-nvlink-x8) || fail "$name: status $?"
  [[ $output == *"exact: "[a-z]*"groups="* ]] || fail "$name: printed $output"
  echo "ok: $name"
}

cmake --install "$build" --prefix "$work/first" > /dev/null
mv "$work/first" "$installed"
pc=$(find "$installed" -name overlaptune.pc)
lib=$(cd "$(dirname "$pc")/.." && pwd)
if grep -rlIF -e "$build" -e "$work/first" "$lib" "$installed/include"; then
  fail 'these files name the build folder or the prefix'
fi

"$installed/bin/overlaptune" tune --machine sim:h200-nvlink-x8 --quick-probe --db "$work/tuned.db" \
  --problem gemm_all_reduce:4096,8192,3584:bf16:8 > /dev/null 2>&1 || fail "the tool: status $?"

[[ -s $installed/share/overlaptune/system.db ]] || fail 'no system database'

# find_package works in a project that has C only.
cmake -S "$root/examples" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$installed" > "$work/log" || fail "$(< "$work/log")"
cmake --build "$work/cmake" > "$work/log" || fail "$(< "$work/log")"
answers 'find_package, shared' "$work/cmake/example_query"
answers 'find_package, static' "$work/cmake/example_query_static"
readelf -d "$work/cmake/example_query" | grep -q 'NEEDED.*\[liboverlaptune.so.0\]' ||
  fail 'the program does not ask for liboverlaptune.so.0'
! readelf -d "$work/cmake/example_query_static" | grep -q liboverlaptune ||
  fail 'the static program asks for liboverlaptune'

# The shipped results answer for a platform that the user's own database does not have. The
# shared library finds them beside itself.
output=$("$work/cmake/example_query" "$work/tuned.db" 4096 8192 3584 8 cuda:h200-nvlink-x8) ||
  fail "the system database: status $?"
[[ $output == *"reason: tuned elsewhere on cuda:h200-nvlink-x8 at 20"*"tuned on host"* ]] ||
  fail "the system database: printed $output"
echo 'ok: the system database'

# The lines that docs/api.md shows for a CMake project.
mkdir "$work/mine"
{
  echo 'cmake_minimum_required(VERSION 3.22)'
  echo 'project(mine LANGUAGES C)'
  echo "add_executable(mine $root/examples/query.c)"
  awk '/^```/ { inside = ($0 ~ /cmake/); next } inside' "$root/docs/api.md"
} > "$work/mine/CMakeLists.txt"
grep -q find_package "$work/mine/CMakeLists.txt" || fail 'docs/api.md shows no lines for CMake'
cmake -S "$work/mine" -B "$work/mine/build" -DCMAKE_PREFIX_PATH="$installed" > "$work/log" 2>&1 || fail "$(< "$work/log")"
cmake --build "$work/mine/build" > "$work/log" || fail "$(< "$work/log")"
answers 'the lines of docs/api.md' "$work/mine/build/mine"

mkdir "$work/other"
cat > "$work/other/CMakeLists.txt" << 'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(other LANGUAGES C)
find_package(overlaptune 0.1 CONFIG REQUIRED COMPONENTS query telepathy)
CMAKE
! cmake -S "$work/other" -B "$work/other/build" -DCMAKE_PREFIX_PATH="$installed" 2> "$work/log" \
  > /dev/null || fail 'a component that does not exist was found'
message=$(tr -s '\n ' ' ' < "$work/log")
[[ $message == *"component 'telepathy' is not installed in "*" expected one of: query"* ]] ||
  fail "$message"
echo 'ok: a missing component is named'

if compgen -G "$lib/liboverlaptune-run.so*" > /dev/null; then
  cat > "$work/other/CMakeLists.txt" << 'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(other LANGUAGES C)
find_package(overlaptune 0.1 CONFIG REQUIRED COMPONENTS query run)
file(WRITE ${CMAKE_BINARY_DIR}/main.c "#include <overlaptune/run.h>\n#include <stdio.h>\n\
int main(void) { puts(ovt_run_version()); return 0; }\n")
add_executable(other ${CMAKE_BINARY_DIR}/main.c)
target_link_libraries(other PRIVATE overlaptune::run_shared)
CMAKE
  cmake -S "$work/other" -B "$work/run" -DCMAKE_PREFIX_PATH="$installed" > "$work/log" 2>&1 ||
    fail "$(< "$work/log")"
  cmake --build "$work/run" > "$work/log" || fail "$(< "$work/log")"
  [[ $("$work/run/other") == [0-9]*.[0-9]* ]] || fail 'the library for plans tells no version'
  echo 'ok: the component run'
fi

if command -v pkg-config > /dev/null; then
  export PKG_CONFIG_PATH=$lib/pkgconfig
  read -r -a flags <<< "$(pkg-config --cflags --libs overlaptune)"
  "$cc" "$root/examples/query.c" "${flags[@]}" -o "$work/shared"
  answers 'pkg-config, shared' env LD_LIBRARY_PATH="$lib" "$work/shared"
  read -r -a flags <<< "$(pkg-config --cflags --static --libs overlaptune)"
  # The linker warns that SQLite could load extensions.
  "$cc" -static "$root/examples/query.c" "${flags[@]}" -o "$work/static" 2> "$work/log" ||
    fail "$(< "$work/log")"
  answers 'pkg-config, static' "$work/static"
  read -r -a flags <<< "$(pkg-config --cflags overlaptune)"
  echo '#include <overlaptune/overlaptune.hpp>' |
    "$cxx" -std=c++20 -fsyntax-only -x c++ "${flags[@]}" -
  echo 'ok: the C++ header'
else
  echo 'not checked: pkg-config is not installed'
fi
