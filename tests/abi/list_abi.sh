#!/usr/bin/env bash
# Prints the symbols, sizes and values that programs linked to a library rely on, one in a line, sorted:
#   list_abi.sh INCLUDE_FOLDER HEADER LIBRARY C_COMPILER
# Sizes and values come from the compiler, symbols from the library.
set -euo pipefail

include=$1 header=$2 library=$3 cc=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

awk -v header="$header" -f "$here/probe.awk" "$include/overlaptune/$header" > "$work/probe.c"
"$cc" -I "$include" "$work/probe.c" -o "$work/probe"
{
  "$work/probe"
  nm --dynamic --defined-only "$library" | sed -n 's/^[0-9a-f]* [TDBRVW] /symbol /p'
  readelf --dynamic "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/soname \1/p'
} | LC_ALL=C sort
