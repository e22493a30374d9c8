#include "pawl/tools/common/tool_input_test.h"

namespace pawl {

TEST_CASE("grep looks in the working directory, with a bounded context") {
  const auto grep = std::get<GrepQuery>(request_of<FileRequest>(
      "grep", R"({"pattern":"x","include":"*.h","context":999,"ignore_case":true})"));
  CHECK(grep.path == ".");
  CHECK(grep.include == "*.h");
  CHECK(grep.context_lines == 20);
  CHECK(grep.letter_case == GrepQuery::Case::ignored);
}

}  // namespace pawl
