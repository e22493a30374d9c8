#include "pawl/charter/host/command_admission.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "pawl/adapter/trust/noted_trust.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

void write_program(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("a command starts as it was read, or as it is trusted now") {
  const TempDirectory directory;
  const std::string root = std::filesystem::canonical(directory.path()).string() + "/work";
  std::filesystem::create_directories(root);
  const std::string path = root + "/pay.sh";
  write_program(path, "one");
  const auto trust = std::make_shared<NotedTrust>(directory / "state");
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
