#!/usr/bin/env bash
# Prints what programs rely on that are linked to a library of ours, one thing a line, sorted:
#   list_abi.sh INCLUDE_FOLDER HEADER LIBRARY C_COMPILER
# Sizes and values are the compiler's, symbols those of the library.
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
