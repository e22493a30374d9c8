#include "pawl/adapter/backend/files/file_search.h"

#include <doctest/doctest.h>

#include "pawl/adapter/backend/files/files_test_support.h"

namespace pawl::backend {
namespace {

struct Stage {
  Workspace work;
  std::shared_ptr<RootedFiles> files = work.open();

  BackendOutcome grep(GrepQuery query, std::uint64_t bytes_max = kTestOutputBytes) const {
    return files->file_request(std::move(query), bytes_max);
  }
  std::string found(const std::string& pattern) const { return grep({pattern}).output; }
  BackendOutcome glob(const std::string& pattern, const std::string& path = ".") const {
    return files->file_request(GlobQuery{pattern, path}, kTestOutputBytes);
  }
};

TEST_CASE("grep gives file, line and text, in order") {
  const Stage stage;
  Workspace::put(stage.work.root("b.txt"), "x\nneedle\n");
  Workspace::put(stage.work.root("a/c.cc"), "needle one\r\nnothing\n\tneedle two");
  Workspace::put(stage.work.root(".git/x"), "needle\n");
  Workspace::put(stage.work.root("node_modules/x"), "needle\n");
  Workspace::put(stage.work.root("binary"), std::string("needle\0", 7));
  std::filesystem::create_symlink(stage.work.outside("secret"), stage.work.root("link"));

  CHECK(stage.found("needle") == "a/c.cc:1:needle one\na/c.cc:3:\tneedle two\nb.txt:2:needle\n");
  CHECK(stage.found("^needle$") == "b.txt:2:needle\n");
  CHECK(stage.found("outside") == "[no matches]\n");
  CHECK(stage.grep({"needle", "b.txt"}).output == "b.txt:2:needle\n");
  CHECK(stage.grep({"needle", "a"}).output == "a/c.cc:1:needle one\na/c.cc:3:\tneedle two\n");
  CHECK(stage.grep({"NEEDLE", ".", "*.txt", 0, GrepQuery::Case::ignored}).output ==
        "b.txt:2:needle\n");
  CHECK(stage.grep({"needle", ".", "a/*.{h,cc}"}).output ==
        "a/c.cc:1:needle one\na/c.cc:3:\tneedle two\n");
}

TEST_CASE("context lines come once, with bars between groups") {
  const Stage stage;
  Workspace::put(stage.work.root("f"), "1\n2 x\n3\n4 x\n5\n6\n7\n8 x\n9\n");

  CHECK(stage.grep({"x", ".", "", 1}).output ==
        "f-1-1\nf:2:2 x\nf-3-3\nf:4:4 x\nf-5-5\n--\nf-7-7\nf:8:8 x\nf-9-9\n");
  CHECK(stage.grep({"x", ".", "", 2}).output ==
        "f-1-1\nf:2:2 x\nf-3-3\nf:4:4 x\nf-5-5\nf-6-6\nf-7-7\nf:8:8 x\nf-9-9\n");
}

TEST_CASE("grep is bounded in matches, in lines and in what it gives back") {
  const Stage stage;
  std::string text;
  for (std::size_t i = 0; i < kGrepMatchesMax + 5; ++i) text += "match\n";
  Workspace::put(stage.work.root("many"), text);
  Workspace::put(stage.work.root("wide"), "wide " + std::string(10'000, 'w') + "\n");

  const BackendOutcome many = stage.grep({"match"});
  CHECK(has(many.output, "[stopped after 1000 matches]"));
  CHECK(stage.found("wide").size() < kGrepLineBytesMax + 100);
  const BackendOutcome cut = stage.grep({"match"}, 200);
  CHECK(cut.output.size() <= 200);
  CHECK(cut.output_length > 200);
  CHECK(has(cut.output, "ask for less"));
}

TEST_CASE("grep refuses bad patterns and paths, and shows no control characters") {
  const Stage stage;
  Workspace::put(stage.work.root("f"), "red \x1b[31m\xff\n");

  CHECK(stage.found("red") == "f:1:red \\x1b[31m\\xff\n");
  CHECK_FALSE(succeeded(stage.grep({"("})));
  CHECK_FALSE(succeeded(stage.grep({"(?=x)"})));
  CHECK_FALSE(succeeded(stage.grep({""})));
  CHECK_FALSE(succeeded(stage.grep({"x", "../outside"})));
  CHECK_FALSE(succeeded(stage.grep({"x", "none"})));
  CHECK_FALSE(succeeded(stage.grep({"x", ".", "{a"})));
}

TEST_CASE("glob gives files, sorted") {
  const Stage stage;
  for (const char* name : {"b.cc", "a.cc", "d/e/f.cc", "d/x.h", ".hidden.cc", ".git/y.cc"}) {
    Workspace::put(stage.work.root(name), "");
  }

  CHECK(stage.glob("*.cc").output == "a.cc\nb.cc\n");
  CHECK(stage.glob("**/*.{cc,h}").output == "a.cc\nb.cc\nd/e/f.cc\nd/x.h\n");
  CHECK(stage.glob("*.h", "d").output == "d/x.h\n");
  CHECK(stage.glob("*.none").output == "[no files]\n");
  CHECK_FALSE(succeeded(stage.glob("*", "..")));
  CHECK_FALSE(succeeded(stage.glob("../*")));
}

TEST_CASE("glob is bounded") {
  const Stage stage;
  for (std::size_t i = 0; i < kGlobMatchesMax + 1; ++i) {
    Workspace::put(stage.work.root(std::to_string(i)), "");
  }
  CHECK(has(stage.glob("*").output, "stopped after 1000 files"));
}

}  // namespace
}  // namespace pawl::backend
