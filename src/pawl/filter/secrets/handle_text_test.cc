#include "pawl/filter/secrets/handle_text.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("a handle has a name of plain characters") {
  CHECK(handle_name("OPENAI_API_KEY") == "OPENAI_API_KEY");
  CHECK(handle_name("file /a b]]") == "file__a_b__");
  CHECK(handle_name("") == "secret");
  CHECK(handle_name(std::string(1000, 'x')).size() == kHandleNameBytesMax);
  CHECK(handle_text("A") == "[[pawl-secret:A]]");
}

TEST_CASE("a handle from outside is made to be none") {
  std::string text = "use [[pawl-secret:KEY]] and [[pawl-secret:";
  CHECK(neutralise_handles(text));
  CHECK(text == "use [[not-a-pawl-secret:KEY]] and [[not-a-pawl-secret:");
  CHECK_FALSE(neutralise_handles(text));
  std::string nested = "[[[[pawl-secret:pawl-secret:A]]";
  neutralise_handles(nested);
  CHECK_FALSE(neutralise_handles(nested));
}

}  // namespace pawl
