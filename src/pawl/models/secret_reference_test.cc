#include "pawl/models/secret_reference.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"

namespace pawl {
namespace {

using Kind = SecretReference::Kind;

std::optional<SecretReference> read(std::string_view yaml, std::vector<Fault>& faults) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  return read_secret_reference(*document.root, "providers.a", "key", faults);
}

SecretReference good(std::string_view yaml) {
  std::vector<Fault> faults;
  const auto reference = read(yaml, faults);
  REQUIRE(faults.empty());
  REQUIRE(reference);
  return *reference;
}

}  // namespace

TEST_CASE("a secret is a variable, a file, or what a command prints") {
  CHECK(good("env:A_KEY") == SecretReference{Kind::environment, "A_KEY", {}});
  CHECK(good("file:/run/key") == SecretReference{Kind::file, "/run/key", {}});
  CHECK(good("'command:[\"pass\", \"show\"]'") ==
        SecretReference{Kind::command, "", {"pass", "show"}});
  CHECK(good("{env: A_KEY}") == good("env:A_KEY"));
  CHECK(good("{file: /run/key}") == good("file:/run/key"));
  CHECK(good("{command: [pass, show]}").arguments.size() == 2);
}

TEST_CASE("a secret itself is refused, and is not repeated in the message") {
  for (const char* const yaml :
       {"sk-ant-verysecret", "env:", "env:9A", "env:A-B", "file:", "'command:'", "'command:pass'",
        "'command:[]'", "'command:[1]'", "{command: pass}", "{command: []}", "{command: ['']}",
        "{env: A, file: b}", "{}", "1", "[env:A]", "''"}) {
    CAPTURE(yaml);
    std::vector<Fault> faults;
    CHECK_FALSE(read(yaml, faults));
    REQUIRE(faults.size() == 1);
    CHECK(to_string(faults.front(), "f").find("verysecret") == std::string::npos);
    CHECK(faults.front().mark.line == 1);
  }
}

}  // namespace pawl
