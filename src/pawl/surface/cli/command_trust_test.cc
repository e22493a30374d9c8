#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

struct TrustDesk {
  int run(std::vector<const char*> words) {
    words.insert(words.begin(), "pawl");
    return run_cli(static_cast<int>(words.size()), words.data(), environment);
  }
  FakeEnvironment environment;
};

}  // namespace

TEST_CASE("trust shows what changed and records it") {
  TrustDesk desk;
  CHECK(desk.run({"trust", "/w/a.yaml"}) == 0);
  CHECK(desk.environment.screen.out == "-old\n+new\ntrusted: /w/a.yaml (sha256 abc)\n");
  REQUIRE(desk.environment.trusted.size() == 1);
  CHECK(desk.environment.trusted.front().path == "/w/a.yaml");
}

TEST_CASE("trust lists what is known, and wants either a file or the list") {
  TrustDesk desk;
  desk.environment.trusted = {{"/w/a.yaml", "0123456789abcdef", "run-1", 0}};
  CHECK(desk.run({"trust", "--list"}) == 0);
  CHECK(desk.environment.screen.out.find("0123456789ab  ") == 0);
  CHECK(desk.environment.screen.out.find("/w/a.yaml  changed by run-1\n") != std::string::npos);
  CHECK(desk.run({"trust", "--list", "--json"}) == 0);
  CHECK(desk.environment.screen.out.find("\"changed_by\":\"run-1\"") != std::string::npos);
  CHECK(desk.run({"trust"}) == 2);
  CHECK(desk.run({"trust", "a", "--list"}) == 2);
}

}  // namespace pawl
