#!/usr/bin/env bash
# Makes Debian packages and checks their content: packages_test.sh BUILD. Status 77: not possible here.
set -euo pipefail

build=$1
for tool in cpack dpkg-deb apt-get; do
  command -v "$tool" > /dev/null || { echo "not checked: $tool is not installed"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

fail() { echo "FAILED: $*"; exit 1; }

cpack --config "$build/CPackConfig.cmake" -B "$work/cpack" > "$work/log" 2>&1 ||
  fail "$(< "$work/log")"
debs=("$work"/cpack/*.deb)
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
for deb in "${debs[@]}"; do
  name=$(dpkg-deb --field "$deb" Package)
  [[ $(dpkg-deb --field "$deb" Version) == "$version" ]] || fail "$name: not of version $version"
  dpkg-deb --extract "$deb" "$work/$name"
  [[ -s $work/$name/usr/share/doc/$name/LICENSE ]] || fail "$name: no licence"
  cp -r "$work/$name/." "$work/all"
  echo "ok: $name"
done

# has PACKAGE PATH...: checks that each pattern below /usr is in the package.
has() {
  local package=$1 pattern
  shift
  for pattern in "$@"; do
    [[ $(find "$work/$package/usr" -path "*/usr/$pattern") ]] || fail "$package: no $pattern"
  done
}
has overlaptune bin/overlaptune share/man/man1/overlaptune{,-tune,-db-info}.1 \
  share/doc/overlaptune/{README.md,docs/cli.md,examples/query.c}
has liboverlaptune0 share/overlaptune/system.db "lib*/liboverlaptune.so.0" "lib*/liboverlaptune.so.$version"
has liboverlaptune-dev include/overlaptune/overlaptune.{h,hpp} "lib*/liboverlaptune.so" \
  "lib*/liboverlaptune.a" "lib*/pkgconfig/overlaptune.pc" \
  "lib*/cmake/overlaptune/overlaptune-config.cmake"
if [[ -e $build/overlaptune-worker ]]; then has overlaptune-worker bin/overlaptune-worker; fi

# Every installed file is in exactly one package.
cmake --install "$build" --prefix "$work/usr" > /dev/null
files() { (cd "$1" && find . ! -type d | sort); }
diff <(files "$work/usr") <(for deb in "${debs[@]}"; do
  files "$work/$(dpkg-deb --field "$deb" Package)/usr"
done | sort) || fail 'the packages and cmake --install differ'

# The dependencies of the packages can be met, and are known where the tools for that are here.
if command -v dpkg-shlibdeps > /dev/null && command -v file > /dev/null; then
  for name in overlaptune liboverlaptune0; do
    depends=$(dpkg-deb --field "$work/cpack/${name}_${version}_"*.deb Depends)
    [[ $depends == *libstdc++6* ]] || fail "$name: depends on $depends"
  done
else
  echo 'not checked: dependencies (dpkg-dev or file is not installed)'
fi
apt-get --simulate install --no-install-recommends "${debs[@]}" > "$work/log" 2>&1 ||
  fail "$(< "$work/log")"

[[ $("$work/all/usr/bin/overlaptune" --version) == "overlaptune $version" ]] || fail 'the tool'
echo 'ok: contents, dependencies, and the tool runs'
