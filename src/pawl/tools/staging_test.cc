#include "pawl/tools/staging.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "pawl/tools/files_session_test.h"

namespace pawl {
namespace {

struct Stage {
  TestLoop loop;
  std::shared_ptr<FilesSession> session = std::make_shared<FilesSession>(loop);
  int callbacks = 0;
  Staging staging;

  Staging run(std::vector<InputFile> files, InputFileSource source = {}) {
    const auto operation =
        stage_inputs(session, loop, std::move(files), std::move(source), [this](Staging value) {
          ++callbacks;
          staging = std::move(value);
        });
    CHECK(callbacks == 0);
    loop.run_posted();
    REQUIRE(callbacks == 1);
    callbacks = 0;
    return staging;
  }
  std::string content(const std::string& path) const {
    std::ifstream file(session->path(path), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_CASE("a plan names files as staging would, and says what is too large or too many") {
  std::vector<InputFile> files = {{"1", "a/report.pdf", "application/pdf", "one"},
                                  {"2", "report.pdf", "application/pdf", "two"},
                                  {"3", "film.mkv", "", std::nullopt}};

  const Staging plan = plan_inputs(files, "/data/inputs/r");

  REQUIRE(plan.staged.size() == 2);
  CHECK(plan.staged[0] ==
        StagedFile{"1", "/data/inputs/r/report.pdf", "application/pdf", 3, sha256("one")});
  CHECK(plan.staged[1].path == "/data/inputs/r/report-2.pdf");
  CHECK(plan.skipped == std::vector<SkippedFile>{{"3", "film.mkv", "larger than 52428800 bytes"}});
  files.resize(kInputFilesMax + 1, {"n", "more", "", "x"});
  files.erase(files.begin() + 2);
  files.push_back({"last", "last", "", "x"});
  CHECK(plan_inputs(files, "/d").staged.size() == kInputFilesMax);
  CHECK(plan_inputs(files, "/d").skipped ==
        std::vector<SkippedFile>{{"last", "last", "more than 100 files"}});
}

TEST_CASE("files are staged by id under names of their own, and only named in the prompt") {
  Stage stage;
  const std::string secret = "bytes that must not be in the prompt";

  const Staging staging =
      stage.run({{"id-1", "report.pdf", "application/pdf", secret},
                 {"id-2", "../../etc/report.pdf", "application/pdf", "second"},
                 {"id-3", "report.pdf", "bad type\n", std::nullopt}},
                [](const std::string& id) -> Result<std::string> { return "by " + id; });

  REQUIRE(staging.staged.size() == 3);
  CHECK(staging.staged[0] ==
        StagedFile{"id-1", "inputs/report.pdf", "application/pdf", secret.size(), sha256(secret)});
  CHECK(staging.staged[1].path == "inputs/report-2.pdf");
  CHECK(staging.staged[2].path == "inputs/report-3.pdf");
  CHECK(staging.staged[2].media_type == "application/octet-stream");
  CHECK(stage.content("inputs/report.pdf") == secret);
  CHECK(stage.content("inputs/report-3.pdf") == "by id-3");
  const std::string block = attached_files_block(staging);
  CHECK(block.starts_with("[ATTACHED FILES]\n- inputs/report.pdf (application/pdf, 36 bytes, "));
  CHECK(block.find(secret) == std::string::npos);
}

TEST_CASE("what is too large, missing, too many or broken is skipped with a note") {
  Stage stage;
  std::vector<InputFile> files{
      {"big", "big.bin", "", std::string(kInputFileBytesMax + 1, 'x')},
      {"just", "just.bin", "", std::string(kInputFileBytesMax, 'x')},
      {"gone", "gone\nfake line", "", std::nullopt},
      {"broken", "broken", "", std::nullopt},
  };

  const Staging staging =
      stage.run(std::move(files), [](const std::string& id) -> Result<std::string> {
        if (id == "broken") throw std::runtime_error("store\nbroken");
        return Error{ErrorCode::not_found, "no such file"};
      });

  CHECK(staging.staged.size() == 1);
  CHECK(staging.staged[0].size == kInputFileBytesMax);
  CHECK(staging.skipped ==
        std::vector<SkippedFile>{{"big", "big.bin", "larger than 52428800 bytes"},
                                 {"gone", "gone_fake line", "no such file"},
                                 {"broken", "broken", "store\nbroken"}});
  CHECK(attached_files_block(staging).find("- not available: broken: store broken\n") !=
        std::string::npos);

  std::vector<InputFile> many(kInputFilesMax + 5, InputFile{"i", "n", "", "x"});
  const Staging bounded = stage.run(std::move(many));
  CHECK(bounded.staged.size() == kInputFilesMax);
  CHECK(bounded.skipped.size() == 5);
}

TEST_CASE("staging twice gives the same, and without files there is no block") {
  Stage stage;
  const std::vector<InputFile> files{{"1", "a", "", "x"}, {"2", "a", "", "y"}};
  const Staging first = stage.run(files);
  const Staging second = stage.run(files);
  CHECK(first.staged == second.staged);
  CHECK(second.skipped.empty());
  CHECK(attached_files_block(stage.run({})).empty());
}

TEST_CASE("names are made safe") {
  CHECK(safe_input_name("plain.txt") == "plain.txt");
  CHECK(safe_input_name("C:\\dir\\x.doc") == "x.doc");
  CHECK(safe_input_name("../..") == "file");
  CHECK(safe_input_name(".bashrc") == "bashrc");
  CHECK(safe_input_name("a\x1b[2J\n\xff") == "a_[2J__");
  CHECK(safe_input_name("\xe2\x80\xae"
                        "txt") == "_txt");
  CHECK(safe_input_name("") == "file");
  CHECK(safe_input_name(std::string(999, 'n')).size() == kInputNameBytesMax);
}

TEST_CASE("a dropped staging is silent, an aborted one tells what it has") {
  Stage stage;
  int callbacks = 0;
  const auto count = [&callbacks](const Staging&) { ++callbacks; };
  auto operation = stage_inputs(stage.session, stage.loop, {{"1", "a", "", "x"}}, {}, count);
  operation.reset();
  stage.loop.run_posted();
  CHECK(callbacks == 0);

  Staging result;
  operation = stage_inputs(stage.session, stage.loop, {{"1", "a", "", "x"}}, {},
                           [&](Staging value) { result = std::move(value); });
  operation->abort();
  stage.loop.run_posted();
  CHECK(result.staged.empty());
  CHECK(result.skipped.size() == 1);
}

TEST_CASE("files that a run came with are held to their digests") {
  const TempDirectory directory;
  const auto put = [&](const std::string& name, const std::string& text) {
    std::ofstream(directory / name, std::ios::trunc) << text;
  };
  const std::vector<InputFile> files = {{"1", "a.txt", "", "one"}, {"2", "b c.txt", "", ""}};
  const std::string digests = input_digests(plan_inputs(files, directory.path()));
  put("a.txt", "one");
  put("b c.txt", "");
  CHECK_FALSE(check_inputs(directory.path()));
  put(".digests", digests);
  CHECK(check_inputs(directory.path()));

  put("a.txt", "onf");
  const Status flipped = check_inputs(directory.path());
  REQUIRE_FALSE(flipped);
  CHECK(flipped.error().message.find("a.txt is not what the run came with") != std::string::npos);
  put("a.txt", "one");
  std::filesystem::remove(directory / "b c.txt");
  CHECK_FALSE(check_inputs(directory.path()));
  put("b c.txt", "");
  for (std::size_t at = 0; at < digests.size(); ++at) {
    std::string damaged = digests;
    damaged[at] ^= 1;
    put(".digests", damaged);
    CHECK_FALSE_MESSAGE(check_inputs(directory.path()), at);
  }
}

}  // namespace
}  // namespace pawl
