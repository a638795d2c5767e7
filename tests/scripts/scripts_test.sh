#!/usr/bin/env bash
# The behaviour of the scripts before they build: help, wrong use, and packages that may not be
# installed. Each case runs with a PATH of stand-ins only, so that its output is the same on every
# machine.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
stand_ins=$(mktemp -d)
trap 'rm -r "$stand_ins"' EXIT
failures=0

# expect NAME STATUS TEXT COMMAND...: COMMAND ends with STATUS and prints a line with TEXT.
expect() {
  local name=$1 status=$2 text=$3 output code=0
  shift 3
  output=$("$@" 2>&1 < /dev/null) || code=$?
  if [[ $code != "$status" || $output != *"$text"* ]]; then
    printf 'FAILED %s: expected status %s and "%s", got status %s and:\n%s\n' \
      "$name" "$status" "$text" "$code" "$output"
    failures=$((failures + 1))
  fi
}

stand_in() {  # stand_in NAME TEXT: a command of that name that is this shell text
  printf '#!/bin/bash\n%s\n' "$2" > "$stand_ins/$1"
  chmod +x "$stand_ins/$1"
}

# A system with coreutils and a g++ of the given version, where no package is installed.
bare_system() {
  rm -f "$stand_ins"/*
  local tool
  for tool in bash env basename dirname cut grep nproc cat; do
    local path
    path=$(type -P "$tool") && ln -s "$path" "$stand_ins/$tool"
  done
  stand_in g++ "echo ${1:-12}"
  stand_in dpkg-query 'exit 1'
  stand_in apt-cache 'exit 1'
  stand_in apt-get 'echo "apt-get $*" >> '"$stand_ins/calls"
  stand_in sudo 'exit 1'
}

as_user() {  # without root, which the scripts could use to install
  if ((EUID == 0)); then
    chmod -R go+rX "$stand_ins"
    setpriv --reuid=65534 --regid=65534 --clear-groups env PATH="$stand_ins" "$@"
  else
    env PATH="$stand_ins" "$@"
  fi
}

stand_in overlaptune 'exit 1'  # for arguments that are looked at behind it
for script in quickstart test benchmarks check-includes cli-docs fuzz compare-torch compare-step compare-builds neighbours emulate-nodes; do
  expect "$script --help" 0 'Usage: scripts/'"$script" "$root/scripts/$script" --help
done
expect 'help from another folder' 0 'Usage:' env -C / "$root/scripts/quickstart" --help
expect 'test: unknown argument' 2 "unknown argument '--fast'" "$root/scripts/test" --fast
expect 'test: unknown step' 2 "step 'lint': expected one of" "$root/scripts/test" --only lint
expect 'test: no step' 2 '--only needs a list' "$root/scripts/test" --only
expect 'cli-docs: no program' 2 "'nothing': expected the built program" \
  "$root/scripts/cli-docs" update nothing
expect 'fuzz: no number' 2 "'long': expected a number of seconds" "$root/scripts/fuzz" long
expect 'compare-torch: unknown argument' 2 "unknown argument '--fast'" "$root/scripts/compare-torch" --fast
expect 'compare-torch: no number' 2 "'many': expected a number" "$root/scripts/compare-torch" --rounds many
expect 'compare-torch: no database' 2 'nothing.db: no such file' "$root/scripts/compare-torch" --db nothing.db
expect 'compare-torch: no Python' 77 'skipped: nothing: no such program' \
  "$root/scripts/compare-torch" --python nothing
expect 'compare-step: unknown argument' 2 "unknown argument '--fast'" "$root/scripts/compare-step" --fast
expect 'compare-step: no database' 2 '--db: missing' "$root/scripts/compare-step"
expect 'compare-step: not divided' 2 'expected a multiple of 5, the number of ranks' \
  "$root/scripts/compare-step" --db "$root/README.md" --tp 5 --tp-shapes 1 --tokens 1001
expect 'compare-step: one GPU without a platform' 2 '--platform: missing beside --ranks-per-gpu' \
  "$root/scripts/compare-step" --db "$root/README.md" --ranks-per-gpu 2
expect 'compare-step: no Python' 77 'skipped: nothing: no such program' \
  "$root/scripts/compare-step" --db "$root/README.md" --python nothing
expect 'neighbours: unknown argument' 2 "unknown argument '--fast'" "$root/scripts/neighbours" --fast
expect 'neighbours: no number' 2 "'many': expected a number" "$root/scripts/neighbours" --ranks many
expect 'neighbours: unknown neighbour' 2 "--only 'nobody': expected one of alone" "$root/scripts/neighbours" --only nobody
expect 'neighbours: unknown row' 2 "--ways 'peer_store/ring': expected one of" "$root/scripts/neighbours" --ways peer_store/ring
expect 'neighbours: no Python' 77 'skipped: nothing: no such program' "$root/scripts/neighbours" --python nothing
expect 'emulate-nodes: unknown argument' 2 "unknown argument '--fast'" "$root/scripts/emulate-nodes" --fast
expect 'emulate-nodes: no build' 2 'nothing/overlaptune: not there' "$root/scripts/emulate-nodes" --build nothing
expect 'emulate-nodes: a folder that is there' 2 'is there already' \
  "$root/scripts/emulate-nodes" --build "$stand_ins" --keep "$root"
expect 'benchmarks: unknown kind' 2 "'all': expected speed, accuracy, predicted, beside-gpus or sequences" "$root/scripts/benchmarks" all

# A tree of a few files, to which each case adds one with an include.
tree=$(mktemp -d)
trap 'rm -r "$stand_ins" "$tree"' EXIT
mkdir -p "$tree"/{scripts,core,model,strategies/{one,two}}
cp "$root"/scripts/{lib.sh,check-includes} "$tree/scripts"
echo '#include "core/a.hpp"' > "$tree/model/b.hpp"
expect 'check-includes: all are allowed' 0 '' "$tree/scripts/check-includes"
refused() {  # refused FILE HEADER TEXT
  echo "#include \"$2\"" > "$tree/$1"
  expect "check-includes: $1" 1 "$1: includes $2$3" "$tree/scripts/check-includes"
  rm "$tree/$1"
}
refused core/a.hpp model/b.hpp ': core may not use model'
refused strategies/one/simulation.cpp model/b.hpp ': simulations may not use model'
refused strategies/one/sim_run.cpp strategies/one/model.hpp ': simulations may not use models'
refused strategies/one/traits.cpp strategies/two/traits.hpp ', which is of another strategy'

if [[ $EUID == 0 && ! $(setpriv --reuid=65534 --regid=65534 --clear-groups \
  cat "$root/scripts/lib.sh" 2> /dev/null) ]]; then
  echo 'not checked: packages without root (this folder is readable by root only)'
else
  bare_system
  expect 'says the one line' 1 'sudo apt-get update && sudo apt-get install' \
    as_user "$root/scripts/quickstart"
  expect 'names the packages' 1 ' libsqlitecpp-dev ' as_user "$root/scripts/quickstart"
  bare_system 11
  expect 'asks for a newer compiler' 1 ' g++-12' as_user "$root/scripts/quickstart"
  if [[ -e $stand_ins/calls ]]; then
    echo "FAILED installs nothing without leave: $(< "$stand_ins/calls")"
    failures=$((failures + 1))
  fi
fi

((failures == 0)) && echo 'all as expected'
