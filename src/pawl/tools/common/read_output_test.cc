#include "pawl/tools/common/tool_input_test.h"

namespace pawl {

TEST_CASE("read_output reads on from an offset, as much as the session shows at once") {
  const auto page = std::get<OutputPage>(
      request_of<FileRequest>("read_output", R"({"artifact":"a","offset":7})"));
  CHECK(page.offset == 7);
  CHECK(page.length_max == 0);
  CHECK(is_refused("read_output", R"({"artifact":"a","offset":-1})"));
}

}  // namespace pawl
