#!/usr/bin/env bash
# Checks where the loader looks for the libraries of a build and of its installed tree: runpath_test.sh BUILD.
# An empty entry, or one that is not absolute, would let whoever owns the current folder replace them.
# Status 77: not possible here.
set -euo pipefail

build=$1
command -v readelf > /dev/null || { echo 'not checked: readelf is not installed'; exit 77; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

# is_good ENTRIES: whether each entry, after a ':', is a path that does not depend on the current folder.
is_good() { [[ $1 =~ ^(:(/|\$ORIGIN)[^:]*)+$ ]]; }
is_good ":/a/lib:\$ORIGIN/../lib" || fail 'a good RUNPATH was refused'
for bad in ':' ':/a/lib:' '::/a/lib' ':lib' ':/a::/b'; do
  ! is_good "$bad" || fail "'$bad' was taken"
done

# check FOLDER NAME...: checks the files below the folder that match, of which there is at least one.
check() {
  local folder=$1 name file found runpath
  shift
  for name in "$@"; do
    mapfile -t found < <(find "$folder" \( -name CMakeFiles -o -name completions \) -prune -o \
      -name "$name" -type f -print)
    ((${#found[@]} > 0)) || fail "$folder: no $name"
    for file in "${found[@]}"; do
      runpath=$(readelf -dW "$file" | sed -n 's/.*(\(RUNPATH\|RPATH\)).*\[\(.*\)\]$/:\2/p')
      [[ -z $runpath ]] || is_good "$runpath" || fail "$file: RUNPATH '${runpath#:}'"
      echo "ok: ${file#"$folder"/}: ${runpath#:}"
    done
  done
}

names=(overlaptune 'liboverlaptune.so.*.*')
if [[ -e $build/overlaptune-worker ]]; then
  names+=(overlaptune-worker 'liboverlaptune-run.so.*.*')
else
  echo 'not checked: the worker and the library for plans, which are not built here'
fi
cmake --install "$build" --prefix "$work/installed" > /dev/null
check "$build" "${names[@]}"
check "$work/installed" "${names[@]}"
