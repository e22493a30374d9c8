#include "pawl/charter/host/agent_charters.h"

#include <doctest/doctest.h>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/base/files.h"
#include "pawl/charter/charter_reader.h"
#include "tests/support/temp_directory.h"

namespace pawl {
namespace {

const DocumentParser kYaml = [](std::string_view text) { return parse_yaml(text); };

struct AgentDesk {
  void write(const std::string& name, const std::string& text) const {
    REQUIRE(write_new_file(directory / name, text));
  }
  // The faults of main.yaml's agents, a line each.
  std::string faults(const std::string& text) {
    const std::function<bool(HostFile)> admit = [this](const HostFile& file) {
      admitted.push_back(std::filesystem::path(file.path).filename().string());
      return admitted.back() != refused;
    };
    const CharterDocument document =
        read_charter_document({text, "main.yaml", directory.path()}, kYaml, admit);
    REQUIRE(document.root);
    CharterReading reading = read_charter(*document.root, document.text, directory.path());
    REQUIRE_MESSAGE(reading.charter, to_string(reading.faults, "main.yaml"));
    charter = *std::move(reading.charter);
    std::string all;
    for (const std::string& one : read_agent_charters(charter, document, kYaml, admit)) {
      all += one + "\n";
    }
    return all;
  }

  TempDirectory directory;
  std::vector<std::string> admitted = {};
  std::string refused = "";
  Charter charter = {};
};

constexpr const char* kMain = "name: main\nmodel: a/b\ninstructions: x\n";

std::string agent_at(const std::string& file) {
  return std::string(kMain) + "agents:\n  a: { charter: " + file + " }\n";
}

}  // namespace

TEST_CASE("the charter of an agent is read with all it includes") {
  AgentDesk desk;
  desk.write("base.yaml", "model: a/b\n");
  desk.write("child.yaml", "name: child\ninclude: base.yaml\ninstructions: y\n");
  CHECK(desk.faults(agent_at("child.yaml")) == "");
  REQUIRE(desk.charter.machine.agents.size() == 1);
  CHECK(desk.charter.machine.agents[0].text.find("model: \"a/b\"") != std::string::npos);
  CHECK(directory_of_agent(desk.charter, desk.charter.machine.agents[0]) ==
        std::filesystem::path(desk.directory.path()).lexically_normal().string());
  CHECK(desk.admitted == std::vector<std::string>{"child.yaml", "base.yaml"});
}

TEST_CASE("faults of an agent's charter are told with its own file and line") {
  AgentDesk desk;
  desk.write("child.yaml", "name: child\nmodel: a/b\ninstruction: y\n");
  const std::string said = desk.faults(agent_at("child.yaml"));
  CHECK(said.find("child.yaml:3:1: charter: unknown key \"instruction\"") != std::string::npos);
  CHECK(desk.faults(agent_at("none.yaml")).find("main.yaml:5:3: agents.a: its charter ") == 0);
}

TEST_CASE("a charter that may not be used is not parsed") {
  AgentDesk desk;
  desk.refused = "child.yaml";
  desk.write("child.yaml", "[");
  CHECK(desk.faults(agent_at("child.yaml")) == "");
}

TEST_CASE("an agent that would call itself, also through three others, is a fault") {
  AgentDesk desk;
  desk.write("b.yaml",
             "name: b\nmodel: a/b\ninstructions: x\nagents: { c: { charter: c.yaml } }\n");
  desk.write("c.yaml",
             "name: c\nmodel: a/b\ninstructions: x\nagents: { d: { charter: d.yaml } }\n");
  desk.write("d.yaml",
             "name: d\nmodel: a/b\ninstructions: x\nagents: { b: { charter: b.yaml } }\n");
  CHECK(
      desk.faults(agent_at("b.yaml")) ==
      "d.yaml:4:11: agents.b: it would call itself: b calls c calls d calls b (remove one of them "
      "from agents:)\n");
}

TEST_CASE("an agent that could do more than its parent is a fault") {
  AgentDesk desk;
  desk.write(
      "child.yaml",
      "name: child\nmodel: a/b\ninstructions: x\n"
      "tools: { use: [bash, view], define: { t: { command: [x] }, u: { command: [x, y] }, v: "
      "{ command: [./v.sh] } } }\n"
      "sandbox: { write: [., ../other], network: { hosts: [a.org, b.org] } }\n"
      "permissions: { grant: [fs_read, network], domains: [a.org, c.org] }\n");
  CHECK(
      desk.faults(
          agent_at("child.yaml") +
          "tools: { use: [view], define: { u: { command: [x] }, v: { command: [./v.sh] } } }\n"
          "sandbox: { write: [.], network: { hosts: [a.org] } }\n"
          "permissions: { grant: [fs_read], domains: [a.org] }\n") ==
      "main.yaml:5:3: agents.a: its charter has the tool \"t\", and this one has not (a subagent "
      "can do no more than the charter that has it)\n"
      "main.yaml:5:3: agents.a: its charter defines the tool \"u\" in another way than this one (a "
      "subagent can do no more than the charter that has it)\n"
      "main.yaml:5:3: agents.a: its charter has the tool \"bash\", and this one has not (a "
      "subagent can do no more than the charter that has it)\n"
      "main.yaml:5:3: agents.a: its network reaches b.org, and that of this one does not (a "
      "subagent can do no more than the charter that has it)\n"
      "main.yaml:5:3: agents.a: it may write ../other, and this one may not (a subagent can do no "
      "more than the charter that has it)\n"
      "main.yaml:5:3: agents.a: it is granted network, and this one is not (a subagent can do no "
      "more than the charter that has it)\n"
      "main.yaml:5:3: agents.a: its permissions allow c.org, and those of this one do not (a "
      "subagent can do no more than the charter that has it)\n");
}

TEST_CASE("what an agent leaves out is its parent's") {
  AgentDesk desk;
  desk.write("child.yaml", "name: child\nmodel: a/b\ninstructions: x\ntools: { use: [view] }\n");
  CHECK(desk.faults(
            agent_at("child.yaml") +
            "tools: { use: [view] }\nsandbox: { network: none }\npermissions: { grant: [] }\n") ==
        "");
}

TEST_CASE("an agent that is written in place is a charter of its own") {
  AgentDesk desk;
  CHECK(desk.faults(std::string(kMain) +
                    "tools: { use: [view, grep], define: { t: { command: [x] } } }\n"
                    "agents: { a: { instructions: y, tools: [view, t] } }\n") == "");
  const CharterAgent& agent = desk.charter.machine.agents.at(0);
  const DocumentResult parsed = parse_yaml(agent.text);
  REQUIRE(parsed.root);
  const CharterReading reading =
      read_charter(*parsed.root, agent.text, directory_of_agent(desk.charter, agent));
  REQUIRE(reading.charter);
  CHECK(reading.charter->common_tools == std::vector<std::string>{"view"});
  CHECK(reading.charter->commands.size() == 1);
  CHECK(reading.charter->model == "a/b");
  CHECK(more_than_parent(desk.charter, *reading.charter).empty());
}

}  // namespace pawl
