#include "pawl/app/pinned_files.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("the files of a run are kept behind its charter") {
  const PinnedFiles pinned{{{"/w/a.yaml", sha256("a")}, {"/w/s.sh", sha256("s")}},
                           PinnedFiles::Sessions::some};

  const std::string text = with_files("name: a", pinned);

  CHECK(names_files(text));
  const auto read = files_within(text);
  REQUIRE(read);
  CHECK(read->files == pinned.files);
  CHECK(read->sessions == PinnedFiles::Sessions::some);
}

TEST_CASE("a charter without such a line has no files, and a damaged one is refused") {
  CHECK(with_files("name: a", {}) == "name: a");
  CHECK_FALSE(names_files("name: a\n"));
  CHECK(files_within("name: a\n").value().files.empty());
  CHECK_FALSE(files_within("name: a\n# pawl: files [1]\n"));
  CHECK_FALSE(files_within("name: a\n# pawl: files {\"sessions\":true,\"files\":[{}]}\n"));
}

}  // namespace pawl
