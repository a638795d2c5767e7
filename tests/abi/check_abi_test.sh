#!/usr/bin/env bash
# Checks that check_abi.sh finds differences: check_abi_test.sh LIBRARY VERSION C_COMPILER
set -euo pipefail

library=$1 version=$2 cc=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
header=overlaptune.h
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

mkdir -p "$work/include/overlaptune" "$work/goldens"
"$here/list_abi.sh" "$root/include" $header "$library" "$cc" > "$work/goldens/$version.txt"

# after SED_SCRIPT: writes into $work/list the list of a header that sed has edited.
after() {
  sed "$1" "$root/include/overlaptune/$header" > "$work/include/overlaptune/$header"
  ! cmp --silent "$root/include/overlaptune/$header" "$work/include/overlaptune/$header" ||
    echo "the header has no place for: $1"
  "$here/list_abi.sh" "$work/include" $header "$library" "$cc" > "$work/list"
}

# expect NAME STATUS TEXT [VERSION]: checks the result of check_abi.sh for $work/list.
expect() {
  local name=$1 status=$2 text=$3 output code=0
  output=$("$here/check_abi.sh" "$work/list" "$work/goldens" "${4:-$version}") || code=$?
  if [[ $code != "$status" || $output != *"$text"* ]]; then
    printf 'FAILED %s: expected status %s and "%s", got status %s and:\n%s\n' \
      "$name" "$status" "$text" "$code" "$output"
    failures=$((failures + 1))
  else
    echo "ok: $name"
  fi
}

gone="gone or changed since $version.txt (needs major version $((${version%%.*} + 1))): "
cp "$work/goldens/$version.txt" "$work/list"
expect 'nothing changed' 0 ''
after 's/int32_t ranks;/int64_t ranks;/'
expect 'a field of another size' 1 "${gone}field ovt_problem.ranks "
after 's/double predicted_us;/int64_t predicted_us;/'
expect 'a field of another type' 1 "${gone}field ovt_answer.predicted_us "
after 's/int64_t m, n, k;/int64_t n, m, k;/'
expect 'fields that changed places' 1 "${gone}field ovt_problem.m offset 8"
after 's/OVT_EXACT = 0/OVT_EXACT = 7/'
expect 'another value of an enumerator' 1 "${gone}enumerator OVT_EXACT 0"
after 's/OVT_TEXT_SIZE 256/OVT_TEXT_SIZE 128/'
expect 'another value of a constant' 1 "${gone}constant OVT_TEXT_SIZE 256"
after 's/ovt_reload(ovt_database\* database)/ovt_reload(ovt_database* database, int again)/'
expect 'another parameter' 1 "${gone}function ovt_reload "
grep -v '^symbol ovt_explain' "$work/goldens/$version.txt" > "$work/list"
expect 'a symbol that is gone' 1 "${gone}symbol ovt_explain@@"
after 's/OVT_EAGER = 1/OVT_EAGER = 1, OVT_LAZY = 2/'
expect 'an enumerator that the list lacks' 1 'add it'

# A field is added at the end, in the next version, with its own list; then there is a break, in the
# same major version and in the next.
after 's/^} ovt_answer;/  double new_us;\n} ovt_answer;/'
expect 'a version without its list' 1 'expected a list of version 0.99.0' 0.99.0
cp "$work/list" "$work/goldens/0.99.0.txt"
expect 'a struct that grew' 0 '' 0.99.0
after 's/int32_t ranks;/int64_t ranks;/'
cp "$work/list" "$work/goldens/0.99.1.txt"
cp "$work/list" "$work/goldens/99.0.0.txt"
expect 'a changed field in a new minor version' 1 "$gone" 0.99.1
expect 'a changed field in a new major version' 0 '' 99.0.0

if after 's/^typedef struct ovt_database ovt_database;/union surprise { int a; };/' 2> "$work/error" ||
  ! grep -q 'not understood: union surprise' "$work/error"; then
  echo 'FAILED a declaration that is not understood'
  failures=$((failures + 1))
fi
((failures == 0))
