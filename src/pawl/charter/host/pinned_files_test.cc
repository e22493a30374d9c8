#include "pawl/charter/host/pinned_files.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("the files of a run are kept by path and digest") {
  const std::vector<HostFile> files = {{"/w/a.yaml", sha256("a"), "a"}, {"/w/s.sh", sha256("s")}};

  const std::vector<PinnedFile> pinned = *pinned_of(files);

  CHECK(pinned == std::vector<PinnedFile>{{"/w/a.yaml", sha256("a")}, {"/w/s.sh", sha256("s")}});
  CHECK(host_files_of(pinned) ==
        std::vector<HostFile>{{"/w/a.yaml", sha256("a")}, {"/w/s.sh", sha256("s")}});
}

TEST_CASE("more files than a record has room for are refused, and never kept in part") {
  CHECK(pinned_of(std::vector<HostFile>(kPinnedFilesMax))->size() == kPinnedFilesMax);
  const auto refused = pinned_of(std::vector<HostFile>(kPinnedFilesMax + 1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::limit_exceeded);
  CHECK(refused.error().message.find("1025 files") != std::string::npos);
}

TEST_CASE("a path that is no text is kept as one") {
  CHECK(pinned_of({{"/w/\xFF", {}}})->front().path != "/w/\xFF");
}

}  // namespace pawl
