#include "pawl/charter/host/pinned_files.h"

#include <doctest/doctest.h>

namespace pawl {

TEST_CASE("the files of a run are kept by path and digest") {
  const std::vector<HostFile> files = {{"/w/a.yaml", sha256("a"), "a"}, {"/w/s.sh", sha256("s")}};

  const std::vector<PinnedFile> pinned = pinned_of(files);

  CHECK(pinned == std::vector<PinnedFile>{{"/w/a.yaml", sha256("a")}, {"/w/s.sh", sha256("s")}});
  CHECK(host_files_of(pinned) ==
        std::vector<HostFile>{{"/w/a.yaml", sha256("a")}, {"/w/s.sh", sha256("s")}});
}

TEST_CASE("no more files are kept than a record has room for, and no bytes that are no text") {
  CHECK(pinned_of(std::vector<HostFile>(kPinnedFilesMax + 1)).size() == kPinnedFilesMax);
  CHECK(pinned_of({{"/w/\xFF", {}}}).front().path != "/w/\xFF");
}

}  // namespace pawl
