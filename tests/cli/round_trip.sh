#!/usr/bin/env bash
# round_trip.sh PROGRAM EXPORT.json.gz: an exported database that is imported and exported again is the same document.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gunzip -c "$2" > "$folder/before.json"
"$1" db import --db "$folder/f.db" - < "$folder/before.json" > /dev/null
"$1" db export --db "$folder/f.db" --out "$folder/after.json" > /dev/null
cmp "$folder/before.json" "$folder/after.json"
