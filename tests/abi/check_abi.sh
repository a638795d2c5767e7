#!/usr/bin/env bash
# Compares the output of list_abi.sh with the files of a folder, VERSION.txt for each released version:
#   check_abi.sh LIST GOLDENS VERSION
# Status 1 and a line for each difference. Everything in an earlier version of the same major number
# must be unchanged, and the file of this version must list everything that there is.
set -euo pipefail
export LC_ALL=C

list=$1 goldens=$2 version=$3
golden=$goldens/$version.txt
wrong=no

# complain TEXT: prints TEXT and a line of standard input, for each line.
complain() {
  local line
  while IFS= read -r line; do
    printf '%s%s\n' "$1" "$line"
    wrong=yes
  done
}

if [[ ! -e $golden ]]; then
  echo "$golden: expected a list of version $version: write what list_abi.sh prints into it"
  exit 1
fi
complain "not in $golden, add it while $version is not released, else give a new version: " \
  < <(comm -13 "$golden" "$list")
for earlier in "$goldens/${version%%.*}".*.txt; do
  if [[ $earlier == "$golden" ]]; then
    pattern='^'
  else
    pattern='^[^s]\|^s[oy]'  # structs may have grown; their fields tell
  fi
  complain "gone or changed since ${earlier##*/} (needs major version $((${version%%.*} + 1))): " \
    < <(grep "$pattern" "$earlier" | comm -23 - "$list")
done
[[ $wrong == no ]]
