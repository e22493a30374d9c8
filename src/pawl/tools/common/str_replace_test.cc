#include "pawl/tools/common/tool_input_test.h"

namespace pawl {

TEST_CASE("str_replace removes the text when no new one is given") {
  CHECK(request_of<StrReplace>("str_replace", R"({"path":"p","old_str":"o"})").new_str.empty());
  CHECK(is_refused("str_replace", R"({"path":"p"})"));
}

}  // namespace pawl
