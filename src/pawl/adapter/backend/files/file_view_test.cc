#include "pawl/adapter/backend/files/file_view.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

TEST_CASE("a view has numbered lines, and ranges count from 1 with -1 as the end") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("f"), "one\ntwo\nthree");

  const auto shown = [&files](std::int64_t first, std::int64_t last) {
    return files->view("f", ViewRange{first, last}, kTestOutputBytes);
  };
  CHECK(files->view("f", {}, kTestOutputBytes).output ==
        "     1\tone\n     2\ttwo\n     3\tthree\n");
  CHECK(shown(2, 2).output == "     2\ttwo\n");
  CHECK(shown(2, -1).output == "     2\ttwo\n     3\tthree\n");
  CHECK(shown(3, 99).output == "     3\tthree\n");
  for (const auto& [first, last] : {std::pair{0, 2}, {4, 5}, {-1, 2}, {3, 2}, {1, -2}, {1, 0}}) {
    const BackendOutcome refused = shown(first, last);
    CHECK_FALSE(succeeded(refused));
    CHECK(has(refused.output, "the file has 3 lines"));
  }
}

TEST_CASE("an empty file, a missing one and a directory with a range say what they are") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("empty"), "");

  CHECK(files->view("empty", {}, kTestOutputBytes).output == "[the file is empty]");
  CHECK(has(files->view("none", {}, kTestOutputBytes).output, "No such file"));
  CHECK_FALSE(succeeded(files->view(".", ViewRange{1, 2}, kTestOutputBytes)));
}

TEST_CASE("a listing has two levels, sorted, without hidden entries and node_modules") {
  const Workspace work;
  const auto files = work.open();
  for (const char* name : {"b", "a/x", "a/y/deep", ".hidden", ".git/config", "node_modules/m/f",
                           "a/node_modules/f", ".pawl-tmp-0123"}) {
    Workspace::put(work.root(name), "");
  }

  CHECK(files->view(".", {}, kTestOutputBytes).output == "./\n  a/\n  a/x\n  a/y/\n  b\n");
  CHECK(files->view("a", {}, kTestOutputBytes).output == "a/\n  x\n  y/\n  y/deep\n");
}

TEST_CASE("what does not fit is cut between lines, and the mark says how to go on") {
  const Workspace work;
  const auto files = work.open();
  std::string text;
  for (int i = 1; i <= 1000; ++i) text += "line " + std::to_string(i) + "\n";
  Workspace::put(work.root("f"), text);
  Workspace::put(work.root("wide"), std::string(100'000, 'w'));

  const BackendOutcome cut = files->view("f", {}, 1000);
  CHECK(cut.output.size() <= 1000);
  CHECK(cut.output_length > 10'000);
  CHECK(has(cut.output, "the file has 1000 lines; go on with view_range ["));
  const BackendOutcome wide = files->view("wide", {}, 1000);
  CHECK(wide.output.size() <= 1000);
  CHECK(has(wide.output, "     1\twwww"));
  CHECK(wide.output_length > 100'000);
  CHECK(files->view("f", {}, 10).output.size() <= 10);
}

TEST_CASE("a long listing is bounded") {
  const Workspace work;
  const auto files = work.open();
  for (std::size_t i = 0; i < kListedMax + 10; ++i) {
    Workspace::put(work.root(std::to_string(i)), "");
  }

  const BackendOutcome all = files->view(".", {}, 1U << 20U);
  CHECK(succeeded(all));
  CHECK(has(all.output, "more entries"));
  const BackendOutcome cut = files->view(".", {}, 500);
  CHECK(cut.output.size() <= 500);
  CHECK(has(cut.output, "more entries"));
  CHECK(cut.output_length > 500);
}

TEST_CASE("images and binary files are described, with a reference to their bytes") {
  const Workspace work;
  const auto files = work.open();
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\2\0\0\0\3\x08\2\0\0\0", 29);
  Workspace::put(work.root("i.txt"), png + "data");
  Workspace::put(work.root("binary"), std::string("a\0b", 3));

  const BackendOutcome image = files->view("i.txt", {}, kTestOutputBytes);
  CHECK(image.output ==
        "[image image/png 258x3, 33 bytes, sha256 " + to_hex(sha256(png + "data")) + "]");
  CHECK(image.files == std::vector<FileRef>{{"i.txt", 33, sha256(png + "data")}});
  CHECK(has(files->view("binary", {}, kTestOutputBytes).output, "[binary file, 3 bytes, sha256 "));
}

TEST_CASE("bytes that are not UTF-8 are shown as replacement characters") {
  const Workspace work;
  const auto files = work.open();
  Workspace::put(work.root("f"), "caf\xe9\n");

  CHECK(files->view("f", {}, kTestOutputBytes).output == "     1\tcaf\xef\xbf\xbd\n");
}

}  // namespace
}  // namespace pawl::backend
