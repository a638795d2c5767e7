#!/usr/bin/env bash
# Makes the database of shipped results: system_database.sh PROGRAM DATABASE RESULTS.json.gz...
set -euo pipefail

program=$1 database=$2
shift 2
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
for results in "$@"; do
  gzip --decompress --stdout "$results" > "$work/results.json"
  "$program" db import --db "$work/system.db" "$work/results.json" > /dev/null
done
chmod 644 "$work/system.db"
mv "$work/system.db" "$database"
