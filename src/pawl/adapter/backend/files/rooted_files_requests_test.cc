#include <doctest/doctest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <thread>

#include "pawl/adapter/backend/files/files_test_support.h"
#include "pawl/base/digest_name.h"

namespace pawl::backend {
namespace {

struct Stage {
  Workspace work;
  std::shared_ptr<RootedFiles> files;

  Stage() {
    FileRoots roots = work.roots();
    roots.artifact_directory = work.outside("");
    files = *RootedFiles::open(roots);
  }
  // Its name.
  std::string keep(const std::string& text) const {
    const std::string name = digest_name("output-", sha256(text));
    Workspace::put(work.outside(name), text);
    return name;
  }
  BackendOutcome page(const std::string& artifact, std::uint64_t offset, std::uint64_t length = 0,
                      std::uint64_t bytes_max = kTestOutputBytes) const {
    return files->file_request(OutputPage{artifact, offset, length}, bytes_max);
  }
};

TEST_CASE("kept output is paged through to its end") {
  const Stage stage;
  const std::string name = stage.keep("0123456789");

  CHECK(stage.page(name, 0, 4).output == "0123\n[bytes 0 to 4 of 10; go on with offset 4]");
  CHECK(stage.page(name, 4).output == "456789\n[bytes 4 to 10 of 10; the end]");
  CHECK(stage.page(name, 99).output == "\n[bytes 99 to 99 of 10; the end]");
}

TEST_CASE("a page never cuts a character, and all pages together are the whole") {
  const Stage stage;
  std::string text;
  for (int i = 0; i < 300; ++i) text += "caf\xc3\xa9 \xe2\x82\xac ";
  const std::string name = stage.keep(text);
  std::string all;
  for (std::uint64_t offset = 0; offset < text.size();) {
    const std::string page = stage.page(name, offset, 0, 500).output;
    CHECK(page.size() <= 500);
    const std::string shown = page.substr(0, page.rfind("\n["));
    REQUIRE_FALSE(shown.empty());
    all += shown;
    offset += shown.size();
  }
  CHECK(all == text);
}

TEST_CASE("kept output is read as the host, and somebody's rights are given back") {
  if (::geteuid() != 0) {
    MESSAGE("skipped: not root");
    return;
  }
  constexpr uid_t kSomebody = 12345;
  const Stage stage;
  const std::string name = stage.keep("kept");
  std::filesystem::permissions(stage.work.outside(name), std::filesystem::perms(0600));
  BackendOutcome page;
  int user_before = 0;
  int user_after = 0;
  std::thread somebody([&] {  // the rights are this thread's only
    ::setfsuid(kSomebody);
    user_before = ::setfsuid(kSomebody);
    page = stage.page(name, 0);
    user_after = ::setfsuid(kSomebody);
  });
  somebody.join();

  CHECK_MESSAGE(has(page.output, "kept"), page.output);
  CHECK(user_after == user_before);
}

TEST_CASE("kept output of which a bit has flipped, or a part is missing, is not shown") {
  const Stage stage;
  const std::string name = stage.keep("0123456789");
  for (const char* damaged : {"0123456788", "012345678", "", "01234567890"}) {
    Workspace::put(stage.work.outside(name), damaged);
    const BackendOutcome page = stage.page(name, 0, 4);
    CHECK_FALSE(succeeded(page));
    CHECK_MESSAGE(has(page.output, name + ": it is damaged"), page.output);
  }
}

TEST_CASE("only artifacts can be paged through") {
  const Stage stage;
  for (const char* name : {"../root/x", "/etc/passwd", ".", "..", "none", ".hidden"}) {
    CHECK_FALSE(succeeded(stage.page(name, 0)));
  }
  CHECK_FALSE(succeeded(stage.page("secret", ~0ULL)));
  const auto without = stage.work.open();
  CHECK(has(without->file_request(OutputPage{"secret"}, kTestOutputBytes).output,
            "no artifact directory"));
}

}  // namespace
}  // namespace pawl::backend
