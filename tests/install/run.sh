#!/usr/bin/env bash
# Installs the build tree, builds the README's C++ example against it as a project of its own, and
# shows that the core component brings no SQLite, libcurl or yaml-cpp. Then a backend of its own,
# against the installed suite.
#   run.sh CMAKE, with PAWL_SOURCE_DIR, PAWL_BINARY_DIR, CXX and CXXFLAGS in the environment
set -euo pipefail
cmake=$1
here=$PAWL_SOURCE_DIR/tests/install
work=$PAWL_BINARY_DIR/tests/install/work
rm -rf "$work"
mkdir -p "$work"

fail() { echo "install.consumer: $*" >&2; exit 1; }

configure() {  # configure BUILD_DIR ARGUMENT...
  local build=$1
  shift
  "$cmake" -S "$here" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" "$@"
}

"$cmake" --install "$PAWL_BINARY_DIR" --prefix "$work/prefix" >"$work/install.log"
if find "$work/prefix" -name '*_test*' | grep .; then fail "test files were installed"; fi

# What hosts can include they rely on: these headers, each by itself, and the suite for backends.
public="agent backend content events executor ids json limits loop machine pawl \
        permissions processor result runner store testing tool words"
suite="testing/tests/contract/backend_contract testing/tests/contract/backend_contract_support \
       testing/tests/support/test_loop testing/tests/support/time_scale"
include=$work/prefix/include
diff <(cd "$include/pawl" && find . -type f | sort) \
     <(for name in $public $suite; do echo "./$name.h"; done | sort) ||
  fail "other headers are installed than tests/install/run.sh lists"
for name in $public; do
  echo "#include <pawl/$name.h>" >"$work/alone.cc"
  "$CXX" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I"$include" "$work/alone.cc" ||
    fail "pawl/$name.h does not compile by itself"
done

main=$here/main.cc
readme=$PAWL_SOURCE_DIR/README.md
if [ -e "$readme" ]; then
  case $(grep -c '^```cpp$' "$readme" || true) in
    0) ;;
    1) main=$work/readme.cc
       sed -n '/^```cpp$/,/^```$/p' "$readme" | sed '1d;$d' >"$main" ;;
    *) fail "README.md has more than one cpp block; which one is the example?" ;;
  esac
fi

configure "$work/build" -DCONSUMER_MAIN="$main"
"$cmake" --build "$work/build"
if ldd "$work/build/consumer" | grep -E 'sqlite|curl|yaml'; then
  fail "the core component links a library that it should not need"
fi
(cd "$work" && build/consumer)

# The durable store is a component of its own.
configure "$work/store" -DPAWL_COMPONENTS="core;store" -DCONSUMER_MAIN="$here/store.cc" \
  -DCONSUMER_LINKS="pawl::library;pawl::journal_sqlite"
"$cmake" --build "$work/store"
[ "$(cd "$work" && store/consumer)" = "keeper: done" ] || fail "the store does not keep its run"

# A backend of somebody else's, registered by name, against the suite that is installed for it.
"$cmake" -S "$here/backend" -B "$work/backend" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
"$cmake" --build "$work/backend"
(cd "$work" && backend/own_backend)

# Every component brings what it needs, other components and packages, by itself.
config=$(find "$work/prefix" -name pawlConfig.cmake)
components=$(sed -n 's/^set(pawl_known "\(.*\)")$/\1/p' "$config")
for component in ${components//;/ }; do
  configure "$work/$component" -DPAWL_COMPONENTS="$component" >"$work/$component.log" 2>&1 ||
    { cat "$work/$component.log"; fail "the component $component is not found"; }
  echo "install.consumer: component $component"
done

if configure "$work/unknown" -DPAWL_COMPONENTS=no_such_component >"$work/unknown.log" 2>&1; then
  fail "an unknown component was found"
fi
grep -q "unknown component 'no_such_component'" "$work/unknown.log" ||
  { cat "$work/unknown.log"; fail "an unknown component is not named"; }
