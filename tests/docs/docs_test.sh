#!/usr/bin/env bash
# Checks that the documents are up to date and complete:
#   docs_test.sh reference PROGRAM          docs/cli-reference.md is what --help says
#   docs_test.sh man_pages PROGRAM FOLDER   so are the man pages
#   docs_test.sh links                      every link of a document leads somewhere
# Status 77: not possible here.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
program=${2:-}
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

# rendered PAGE: prints the page as a reader sees it, in one line without emphasis; warnings go to
# standard error.
rendered() {
  if command -v groff > /dev/null; then
    groff -man -ww -Tutf8 -P-c -P-b -P-u -P-o "$1"
  else
    mandoc -T utf8 -W warning "$1"
  fi | sed 's/.\x08//g' | tr '‐−' '--' | tr -s ' \n' ' '
}

reference() {
  diff <(sed '1,/^<!-- scripts\/cli-docs:/d' "$root/docs/cli-reference.md") \
    <("$root/scripts/cli-docs" markdown "$program") ||
    fail 'docs/cli-reference.md is not what --help says: run scripts/cli-docs update on the built program'
}

man_pages() {
  local folder=$1 command page text warnings options option pages=0
  warnings=$(mktemp)
  while IFS= read -r command; do
    page=$folder/overlaptune${command:+-${command// /-}}.1
    # shellcheck disable=SC2086  # a command is words
    options=$("$program" $command --help | grep -o -e '--[a-z][a-z-]*' | sort -u)
    text=$(rendered "$page" 2> "$warnings") || true  # mandoc ends so, having warned
    [[ ! -s $warnings ]] || fail "${page##*/}: $(< "$warnings")"
    while IFS= read -r option; do
      [[ $text == *"$option"* ]] || fail "${page##*/}: no $option"
    done <<< "$options"
    pages=$((pages + 1))
  done < <("$root/scripts/cli-docs" commands "$program")
  rm "$warnings"
  ((pages > 10)) || fail "only $pages pages"
  echo "$pages pages"
}

# anchors PAGE: prints the names of its headings in links, one in a line.
anchors() {
  sed -n 's/^##* //p' "$1" | LC_ALL=C tr '[:upper:]' '[:lower:]' |
    LC_ALL=C sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

# Links to other hosts are not checked.
links() {
  local page target file links=0
  while IFS= read -r page; do
    while IFS= read -r target; do
      links=$((links + 1))
      file=${target%%#*}
      file=${file:+$(dirname "$page")/$file}
      file=${file:-$page}
      if [[ ! -e $file ]]; then
        fail "${page#"$root"/}: ($target): no such file"
      elif [[ $target == *#* ]] && ! anchors "$file" | grep -qx -e "${target#*#}"; then
        fail "${page#"$root"/}: ($target): no such heading"
      fi
    done < <(grep -o '](\([^)]*\))' "$page" | sed 's/^](//; s/)$//' | grep -v '^https\?:')
  done < <(find "$root"/*.md "$root/docs" -name '*.md')
  ((links > 50)) || fail "only $links links"
  echo "$links links"
}

case $1 in
  reference) reference ;;
  links) links ;;
  man_pages)
    if ! command -v groff > /dev/null && ! command -v mandoc > /dev/null; then
      echo 'not checked: neither groff nor mandoc is installed'
      exit 77
    fi
    man_pages "$3" ;;
esac
((failures == 0))
