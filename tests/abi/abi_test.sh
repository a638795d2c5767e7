#!/usr/bin/env bash
# Checks that a library is as its released versions were:
#   abi_test.sh COMPONENT HEADER LIBRARY VERSION C_COMPILER
set -euo pipefail

component=$1 header=$2 library=$3 version=$4 cc=$5
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
list=$(mktemp)
trap 'rm "$list"' EXIT

"$here/list_abi.sh" "$root/include" "$header" "$library" "$cc" > "$list"
"$here/check_abi.sh" "$list" "$root/tests/data/abi/$component" "$version"
