#include "pawl/surface/cli/arguments.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Result<Arguments> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "pawl");
  return parse_arguments(static_cast<int>(words.size()), words.data());
}

std::string fault_of(std::vector<const char*> words) {
  const auto parsed = parse(std::move(words));
  return parsed ? "" : parsed.error().message;
}

}  // namespace

TEST_CASE("arguments and options of a command, and global options on either side of it") {
  const auto parsed = parse({"--data", "d", "run", "c.yaml", "hello", "--json", "--var", "a=1",
                             "--var", "b=2", "--steps", "3", "-d"});

  REQUIRE(parsed);
  CHECK(parsed->command == "run");
  CHECK(parsed->one("data") == "d");
  CHECK(parsed->one("CHARTER") == "c.yaml");
  CHECK(parsed->one("INPUT") == "hello");
  CHECK(parsed->many("var") == std::vector<std::string>{"a=1", "b=2"});
  CHECK(parsed->one("steps") == "3");
  CHECK(parsed->has("json"));
  CHECK(parsed->has("detach"));
  CHECK_FALSE(parsed->has("help"));
}

TEST_CASE("a repeatable option takes one value each time") {
  const auto parsed = parse({"run", "--var", "a=1", "c.yaml", "input"});

  REQUIRE(parsed);
  CHECK(parsed->many("var") == std::vector<std::string>{"a=1"});
  CHECK(parsed->one("INPUT") == "input");
}

TEST_CASE("a text that is a command's name is a text") {
  const auto parsed = parse({"message", "r1", "cancel"});

  REQUIRE(parsed);
  CHECK(parsed->command == "message");
  CHECK(parsed->one("TEXT") == "cancel");
}

TEST_CASE("a dash is standard input, and what follows -- is no option") {
  CHECK(parse({"run", "c.yaml", "-"})->one("INPUT") == "-");
  CHECK(parse({"message", "r1", "--", "--json"})->one("TEXT") == "--json");
}

TEST_CASE("--happened may have a value, also one that looks like a list") {
  CHECK(parse({"resolve", "r", "c1", "--happened"})->has("happened"));
  CHECK(parse({"resolve", "r", "c1", "--happened"})->one("happened").value_or("").empty());
  CHECK(parse({"resolve", "r", "c1", "--happened", "[1,2]"})->one("happened") == "[1,2]");
  CHECK(parse({"resolve", "r", "c1", "--happened={\"a\": 1}"})->one("happened") == "{\"a\": 1}");
}

TEST_CASE("mistakes are named, with a way on") {
  CHECK(fault_of({"run"}).find("CHARTER is missing") != std::string::npos);
  CHECK(fault_of({"rnu", "x"}).find("did you mean run?") != std::string::npos);
  CHECK(fault_of({"ls", "--stauts", "done"}).find("'--stauts'") != std::string::npos);
  CHECK(fault_of({"ls", "extra"}).find("'extra' is not understood") != std::string::npos);
  CHECK(fault_of({"ls", "--status"}) == "--status needs a value (see pawl ls --help)");
}

TEST_CASE("help needs nothing else") {
  CHECK(parse({"run", "--help"})->has("help"));
  CHECK(parse({"-h"})->has("help"));
  CHECK(parse({})->command.empty());
}

TEST_CASE("a variable has a name") {
  CHECK(parse_key_value("a=b=c")->value == "b=c");
  CHECK(parse_key_value("a=")->value.empty());
  CHECK_FALSE(parse_key_value("a"));
  CHECK_FALSE(parse_key_value("=b"));
}

}  // namespace pawl
