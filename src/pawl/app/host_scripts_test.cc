#include "pawl/app/host_scripts.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

void write_program(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("a script that judges is read and sealed once; one that is not there is none") {
  const TempDirectory directory;
  write_program(directory / "check.sh", "#!/bin/sh\necho allow\n");
  std::ofstream(directory / "no-program") << "x";

  const auto script = judging_script(directory / "check.sh");

  REQUIRE(script);
  CHECK(script->digest == sha256("#!/bin/sh\necho allow\n"));
  CHECK_FALSE(judging_script(directory / "none"));
  CHECK_FALSE(judging_script(directory / "no-program"));
}

TEST_CASE("a command starts as it was read, or as it is trusted now") {
  const TempDirectory directory;
  const std::string root = std::filesystem::canonical(directory.path()).string() + "/work";
  std::filesystem::create_directories(root);
  const std::string path = root + "/pay.sh";
  write_program(path, "one");
  const auto trust = std::make_shared<FileTrust>(directory / "state");
  const std::vector<HostFile> files = {read_host_file(path).value()};
  REQUIRE(trust->trust(files));
  const auto admit = admitting(trust, files, {path, root + "/none"}, {});

  CHECK(admit());
  write_program(path, "by the operator");
  CHECK(admit());
  {
    const auto session = trust->begin_session(RunId{"r"}, {root});
    write_program(path, "planted");
    const Status refused = admit();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("was not started") != std::string::npos);
    CHECK(refused.error().message.find("pawl trust") != std::string::npos);
  }
  CHECK_FALSE(admit());
  write_program(path, "one");
  CHECK(admit());
}

TEST_CASE("what is asked first is asked first") {
  const auto refuse = []() -> Status { return Error{ErrorCode::conflict, "no"}; };
  CHECK_FALSE(admitting(nullptr, {}, {"/x"}, refuse)());
  CHECK_FALSE(admitting(nullptr, {}, {"/x"}, {}));
}

}  // namespace pawl
