#!/usr/bin/env bash
# Installs the Debian packages that a purpose needs and that are missing:
#   tools/install-packages.sh build|test|ci...
# Nothing is removed, ever. PAWL_SKIP_INSTALL=1 only says what is missing.
set -euo pipefail

declare -A packages=(
  [build]="cmake ninja-build g++ pkg-config lld libboost1.81-dev libssl-dev libfmt-dev
           libsqlite3-dev libcurl4-openssl-dev libnghttp2-dev ca-certificates libyaml-cpp-dev
           libre2-dev libcli11-dev libseccomp-dev"
  [test]="doctest-dev ccache python3 strace procps sqlite3 e2fsprogs openssl runc nghttp2-server git
          mount"
  [ci]="clang-19 clang-format-19 clang-tidy-19 libclang-rt-19-dev util-linux mount bubblewrap"
)

say() { printf 'pawl: %s\n' "$*" >&2; }

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

[ $# -ge 1 ] || { say "usage: $0 build|test|ci..."; exit 2; }
missing=()
for purpose in "$@"; do
  [ -n "${packages[$purpose]:-}" ] || { say "no such purpose: $purpose"; exit 2; }
  for package in ${packages[$purpose]}; do
    if [ "$package" = pkg-config ] && command -v pkg-config >/dev/null 2>&1; then continue; fi
    if command -v dpkg-query >/dev/null 2>&1 && installed "$package"; then continue; fi
    missing+=("$package")
  done
done
[ ${#missing[@]} -gt 0 ] || exit 0

if [ -n "${PAWL_SKIP_INSTALL:-}" ]; then
  say "PAWL_SKIP_INSTALL is set; going on without: ${missing[*]}"
  exit 0
fi
if ! command -v apt-get >/dev/null 2>&1; then
  say "this is not a Debian system. Install the equivalents of these packages yourself, then set"
  say "PAWL_SKIP_INSTALL=1: ${missing[*]}"
  exit 1
fi

# Two versions of Boost's headers cannot be installed together. The other one may be what this
# machine's own work is built with, so that removing it is its owner's decision.
if [[ " ${missing[*]} " == *" libboost1.81-dev "* ]]; then
  if installed libboost1.74-dev; then
    say "libboost1.74-dev is installed and conflicts with libboost1.81-dev, which Pawl needs."
    say "Nothing was changed. Either remove it (apt-get remove libboost1.74-dev) or, where Boost"
    say "1.81 or newer is installed in another way, set PAWL_SKIP_INSTALL=1."
    exit 1
  fi
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    say "these packages are missing, and there is neither root nor sudo to install them with:"
    say "  apt-get install ${missing[*]}"
    exit 1
  fi
  as_root=(sudo)
fi

say "installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run_apt() {
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    say "apt-get $1 failed; the packages are: ${missing[*]}"
    exit 1
  fi
}
run_apt update -q
run_apt install -q -y --no-install-recommends --no-remove "${missing[@]}"
