#include "pawl/gate/shell/shell_evaluated.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("substitutions are found in a text that was quoted") {
  CHECK(substitutions_in("a[$(x y)]=1").texts == Texts{"x y"});
  CHECK(substitutions_in("$(x $(y)) `z`").texts == Texts{"x $(y)", "z"});
  CHECK(substitutions_in("costs 5$ (or so)").texts.empty());
  CHECK(substitutions_in("$(x").end == Substitutions::End::open);
  CHECK(substitutions_in("`x").end == Substitutions::End::open);
  CHECK(substitutions_in("$(x)").end == Substitutions::End::whole);
}

TEST_CASE("a name and its value") {
  CHECK(is_name_and_value("PS4=x"));
  CHECK(is_name_and_value("a+="));
  CHECK_FALSE(is_name_and_value("--a=b"));
  CHECK_FALSE(is_name_and_value("=b"));
  CHECK_FALSE(is_name_and_value("a b=c"));
  CHECK_FALSE(is_name_and_value("name"));
}

TEST_CASE("what is evaluated later is named") {
  CHECK(evaluated_later(read_shell("echo \"${x@P}\"")) == "${x@P}");
  CHECK(evaluated_later(read_shell("a='x[$'; a+='(y)]'")) == "a=x[$");
  CHECK(evaluated_later(read_shell("a='x$'; echo '(y)'")).empty());
  CHECK(evaluated_later(read_shell("echo \"${x@Q}\"")).empty());
}

}  // namespace
}  // namespace pawl
