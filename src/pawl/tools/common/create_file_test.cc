#include "pawl/tools/common/tool_input_test.h"

namespace pawl {

TEST_CASE("create_file overwrites a file only where the call says so") {
  const auto made = request_of<FileWrite>("create_file", R"({"path":"p","file_text":"t"})");
  CHECK(made.overwrite == FileWrite::Overwrite::no);
  CHECK(request_of<FileWrite>("create_file", R"({"path":"p","file_text":"t","overwrite":true})")
            .overwrite == FileWrite::Overwrite::yes);
  CHECK(is_refused("create_file", R"({"path":"p","file_text":"t","overwrite":"yes"})"));
}

}  // namespace pawl
