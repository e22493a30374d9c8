#include "pawl/base/path_text.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("a path is within its root and within what is above it") {
  CHECK(is_within("/w/root", "/w/root"));
  CHECK(is_within("/w/root/a", "/w/root"));
  CHECK(is_within("/w/root/a/b", "/w"));
  CHECK(is_within("/w", "/"));
  CHECK(is_within("/", "/"));
  CHECK_FALSE(is_within("/w", "/w/root"));
  CHECK_FALSE(is_within("", "/"));
}

TEST_CASE("a name that only begins like the root is another one (F03)") {
  CHECK_FALSE(is_within("/w/root-evil/x", "/w/root"));
  CHECK_FALSE(is_beneath("/w/root-evil", "/w/root"));
}

TEST_CASE("nothing is beneath itself") {
  CHECK_FALSE(is_beneath("/w/root", "/w/root"));
  CHECK_FALSE(is_beneath("/", "/"));
  CHECK(is_beneath("/w/root/a", "/w/root"));
  CHECK(is_beneath("/w", "/"));
}

}  // namespace
}  // namespace pawl
