#include "pawl/adapter/host/secrets.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "pawl/adapter/host/secret_command.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

using Kind = SecretReference::Kind;

struct Stage {
  SecretHandle make(const SecretReference& reference) const {
    return HostSecrets(sources()).find(reference, directory.path());
  }
  SecretSources sources() const {
    const auto learn = [this](const std::string& name, const std::string& value) {
      learned.push_back(name + "=" + value);
      return std::string_view(value == "test" ? "it is too short" : "");
    };
    return {reader(), learn, warn()};
  }
  std::function<void(const std::string&)> warn() const {
    return [this](const std::string& text) { warnings.push_back(text); };
  }
  EnvironmentReader reader() const {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
  }
  void write(const std::string& name, const std::string& text, mode_t mode) const {
    std::ofstream(directory / name) << text;
    REQUIRE(::chmod((directory / name).c_str(), mode) == 0);
  }
  Result<std::string> of_command(std::vector<std::string> arguments) const {
    return make({Kind::command, "", std::move(arguments)})->reveal();
  }

  TempDirectory directory;
  std::map<std::string, std::string> variables;
  mutable std::vector<std::string> learned;
  mutable std::vector<std::string> warnings;
};

}  // namespace

TEST_CASE("a secret of the environment is looked up when it is needed") {
  Stage stage;
  const SecretHandle secret = stage.make({Kind::environment, "A_KEY", {}});
  CHECK(secret->origin() == "environment variable A_KEY");
  const auto missing = secret->reveal();
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message == "set A_KEY");
  stage.variables["A_KEY"] = "abc123";
  CHECK(*secret->reveal() == "abc123");
  stage.variables["A_KEY"] = "abc\r\nx: y";
  CHECK_FALSE(secret->reveal());

  const SecretHandle either =
      HostSecrets(SecretSources{stage.reader()}).find_variable({"FIRST", "SECOND"});
  stage.variables["SECOND"] = "two";
  CHECK(*either->reveal() == "two");
  CHECK(either->origin() == "environment variable SECOND");
}

TEST_CASE("a secret file has one line, and only its owner reads it") {
  const Stage stage;
  const SecretHandle secret = stage.make({Kind::file, "key", {}});
  CHECK_FALSE(secret->reveal());
  stage.write("key", "s3cret-value\n", 0600);
  CHECK(*secret->reveal() == "s3cret-value");
  for (const mode_t mode : {0640U, 0604U, 0644U, 0620U}) {
    CAPTURE(mode);
    stage.write("key", "s3cret-value\n", mode);
    const auto refused = secret->reveal();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find("chmod 600") != std::string::npos);
    CHECK(refused.error().message.find("s3cret") == std::string::npos);
  }
  for (const std::string& text : {std::string("a\nb\n"), std::string("\n"), std::string(),
                                  std::string(kSecretBytesMax + 1, 'x')}) {
    stage.write("key", text, 0600);
    CHECK_FALSE(secret->reveal());
  }
  CHECK_FALSE(stage.make({Kind::file, "/dev/null", {}})->reveal());
  CHECK_FALSE(stage.make({Kind::file, stage.directory.path(), {}})->reveal());
}

TEST_CASE("a command prints a secret, without a shell, within bounds") {
  const Stage stage;
  CHECK(*stage.of_command({"printf", "abc-$HOME"}) == "abc-$HOME");
  CHECK_FALSE(stage.of_command({"false"}));
  CHECK_FALSE(stage.of_command({"true"}));
  CHECK_FALSE(stage.of_command({"/no/such/program"}));
  CHECK_FALSE(stage.of_command({"printf", "a\\nb"}));

  const auto slow = output_of({"sleep", "100"}, {50, 100});
  REQUIRE_FALSE(slow);
  CHECK(slow.error().message == "the command sleep took too long");
  const auto endless = output_of({"yes"}, {60'000, 100'000});
  REQUIRE_FALSE(endless);
  CHECK(endless.error().code == ErrorCode::limit_exceeded);
}

TEST_CASE("a command that is not admitted is not started, and there is no secret") {
  const Stage stage;
  std::vector<std::string> asked;
  const auto refuse = [&asked](const std::vector<std::string>& words) -> Status {
    asked = words;
    return Error{ErrorCode::invalid_argument, "key.sh changed"};
  };
  SecretSources sources = stage.sources();
  sources.admit = refuse;
  const SecretHandle secret = HostSecrets(sources).find(
      {Kind::command, "", {"touch", stage.directory / "started"}}, stage.directory.path());
  const auto value = secret->reveal();
  REQUIRE_FALSE(value);
  CHECK(value.error().message == "key.sh changed");
  CHECK(asked == std::vector<std::string>{"touch", stage.directory / "started"});
  CHECK_FALSE(std::filesystem::exists(stage.directory / "started"));
}

TEST_CASE("what a command printed is kept for a while") {
  const Stage stage;
  stage.write("key", "first", 0600);
  const SecretHandle secret = stage.make({Kind::command, "", {"cat", stage.directory / "key"}});
  CHECK(*secret->reveal() == "first");
  stage.write("key", "second", 0600);
  CHECK(*secret->reveal() == "first");
}

TEST_CASE("values that were revealed are learned, also those before a change") {
  Stage stage;
  stage.variables = {{"A_KEY", "from-the-environment"}};
  stage.write("key.txt", "from-a-file-1", 0600);
  const SecretHandle variable = stage.make({Kind::environment, "A_KEY", {}});
  const SecretHandle file = stage.make({Kind::file, "key.txt", {}});
  CHECK(stage.learned.empty());

  CHECK(variable->reveal());
  CHECK(file->reveal());
  CHECK(stage.of_command({"echo", "from-a-command"}));
  stage.write("key.txt", "from-a-file-2", 0600);
  CHECK(*file->reveal() == "from-a-file-2");

  CHECK(stage.learned == std::vector<std::string>{"A_KEY=from-the-environment",
                                                  "key.txt=from-a-file-1", "echo=from-a-command",
                                                  "key.txt=from-a-file-2"});
  CHECK(stage.warnings.empty());
}

TEST_CASE("a value that cannot be told from other text is warned about once") {
  Stage stage;
  stage.variables = {{"A_KEY", "test"}};
  const SecretHandle secret = stage.make({Kind::environment, "A_KEY", {}});
  CHECK(*secret->reveal() == "test");
  CHECK(*secret->reveal() == "test");
  REQUIRE(stage.warnings.size() == 1);
  CHECK(stage.warnings[0].starts_with("the environment variable A_KEY: it is too short"));
}

}  // namespace pawl
