#include "pawl/charter/machine/json_pointer.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("pointers are unescaped step by step") {
  using Steps = std::vector<std::string>;
  CHECK(pointer_steps("") == Steps{});
  CHECK(pointer_steps("/a/~01~1/") == Steps{"a", "~1/", ""});
  CHECK(pointer_fault("/a~2").find("~0") != std::string::npos);
  CHECK(pointer_fault("a").find("must begin") != std::string::npos);
  CHECK(pointer_fault("/a~").find("~0") != std::string::npos);
  CHECK(pointer_fault("").empty());
}

}  // namespace
}  // namespace pawl
