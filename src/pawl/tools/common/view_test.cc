#include "pawl/tools/common/tool_input_test.h"

namespace pawl {

TEST_CASE("view shows the whole file unless a range is given") {
  CHECK(request_of<ViewRequest>("view", R"({"path":"p","view_range":[3,-1]})").range->first == 3);
  CHECK_FALSE(request_of<ViewRequest>("view", R"({"path":"p"})").range);
  CHECK(is_refused("view", "{"));
  CHECK(is_refused("view", R"({"path":7})"));
  CHECK(is_refused("view", R"({"path":"p","view_range":[1]})"));
  CHECK(is_refused("view", R"({"path":"p","view_range":[1,"2"]})"));
}

}  // namespace pawl
