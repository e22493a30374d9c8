// The schema says what the reader says: a key that one of them knows and the other does not fails
// here, and so do values that only one of them takes.
#include "pawl/charter/charter_schema.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "pawl/base/files.h"
#include "pawl/base/schema.h"
#include "pawl/charter/charter_test_support.h"
#include "pawl/json.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileBytesMax = 4U << 20U;
constexpr std::string_view kStranger = "stranger_to_all";

fs::path source() {
  const char* given = std::getenv("PAWL_SOURCE_DIR");
  return given == nullptr ? fs::current_path() : fs::path(given);
}

const Json& schema_document() {
  static const Json kDocument = *parse_json(charter_schema_text());
  return kDocument;
}

std::string schema_faults(std::string_view yaml) {
  static const Schema kSchema = [] {
    auto compiled = Schema::compile(schema_document());
    REQUIRE_MESSAGE(compiled, compiled.error().message);
    return *std::move(compiled);
  }();
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  return describe(kSchema.validate(*parse_json(to_json(*document.root))));
}

std::set<std::string> keys_of(const Json& object) {
  std::set<std::string> keys;
  const Json* properties = object.find("properties");
  REQUIRE(properties != nullptr);
  for (const JsonMember& member : properties->object().members()) keys.insert(member.key);
  return keys;
}

// A place in a charter where a map has fixed keys: where the schema says so, and a charter with an
// unknown key there.
struct MapPlace {
  std::vector<std::string> schema;  // steps from the schema's root
  std::string charter;              // with @ in the place of the unknown key and its value
};

std::vector<MapPlace> map_places() {
  const std::string nodes = "nodes: { n: { instructions: x, ";
  const std::string phases = "flow: { phases: [{ name: a, ";
  return {
      {{}, "@"},
      {{"$defs", "output"}, "output: { schema: {}, @ }"},
      {{"$defs", "compaction", "oneOf", "1"}, "compaction: { @ }"},
      {{"$defs", "limits"}, "limits: { @ }"},
      {{"properties", "budget"}, "budget: { cost: 1.00 USD, @ }"},
      {{"properties", "budget", "properties", "tenant", "oneOf", "0"},
       "budget: { tenant: { per: 1h, tokens: 1, @ } }"},
      {{"properties", "guards"}, "guards: { @ }"},
      {{"properties", "retry"}, "retry: { @ }"},
      {{"properties", "tools"}, "tools: { @ }"},
      {{"$defs", "shell"}, "tools: { shell: { @ } }"},
      {{"$defs", "tool"}, "tools: { define: { t: { command: [x], @ } } }"},
      {{"properties", "sandbox"}, "sandbox: { @ }"},
      {{"properties", "sandbox", "properties", "network", "oneOf", "1"},
       "sandbox: { network: { hosts: [], @ } }"},
      {{"properties", "approvals", "anyOf", "1"},
       "approvals: { policy: always_require, four_eyes: false, @ }"},
      {{"properties", "permissions"}, "permissions: { @ }"},
      {{"$defs", "rule"}, "guardrails: [{ id: x, @ }]"},
      {{"properties", "processors"}, "processors: { @ }"},
      {{"$defs", "model_name", "oneOf", "2"}, "models: { a: { model: x/y, @ } }"},
      {{"$defs", "provider"}, "providers: { p: { @ } }"},
      {{"$defs", "provider", "properties", "timeouts"}, "providers: { p: { timeouts: { @ } } }"},
      {{"$defs", "model_facts", "oneOf", "1"}, "providers: { p: { models: { m: { @ } } } }"},
      {{"$defs", "node"}, nodes + "@ } }"},
      {{"$defs", "node", "properties", "limits"}, nodes + "limits: { @ } } }"},
      {{"$defs", "node", "properties", "discover"}, nodes + "discover: { nodes: [], @ } } }"},
      {{"$defs", "state"}, nodes + "state: { @ } } }"},
      {{"$defs", "next", "oneOf", "1"}, nodes + "next: { a: { to: n, @ } } } }"},
      {{"$defs", "child", "oneOf", "1"}, nodes + "workers: { a: { node: n, @ } } } }"},
      {{"$defs", "command"}, nodes + "commands: { a: { @ } } } }"},
      {{"$defs", "action", "oneOf", "2", "properties", "spawn"},
       nodes + "commands: { a: { do: [{ spawn: { worker: w, input: x, @ } }] } } } }"},
      {{"$defs", "action", "oneOf", "4", "properties", "suspend"},
       nodes + "commands: { a: { do: [{ suspend: { reason: x, @ } }] } } } }"},
      {{"$defs", "action", "oneOf", "5", "properties", "resume"},
       nodes + "commands: { a: { do: [{ resume: { @ } }] } } } }"},
      {{"$defs", "pack"}, nodes + "packs: [p] } }\npacks: { p: { @ } }"},
      {{"$defs", "flow"}, "flow: { phases: [{ name: a, checkpoint: x }], @ }"},
      {{"$defs", "phase"}, phases + "checkpoint: x, @ }] }"},
      {{"$defs", "phase", "properties", "await"}, phases + "await: { event: x, @ } }] }"},
      {{"$defs", "phase", "properties", "map"}, phases + "map: { over: /input, @ } }] }"},
      {{"$defs", "phase", "properties", "limits"}, phases + "limits: { @ } }] }"},
      {{"$defs", "gate"}, "gate: { @ }"},
      {{"$defs", "agent"}, "agents: { a: { instructions: x, @ } }"},
      {{"properties", "subagents"}, "subagents: { @ }"},
  };
}

const Json& at(const std::vector<std::string>& steps) {
  const Json* place = &schema_document();
  for (const std::string& step : steps) {
    CAPTURE(step);
    const Json* next = place->is_array() ? &place->array().at(std::stoul(step)) : place->find(step);
    REQUIRE(next != nullptr);
    place = next;
  }
  return *place;
}

// Those that the reader names when it finds one that it does not know.
std::set<std::string> keys_known(const std::string& charter) {
  const CharterReading reading = read_charter_text(charter);
  for (const Fault& fault : reading.faults) {
    constexpr std::string_view kKnown = "known keys: ";
    const bool of_stranger = fault.message.find(kStranger) != std::string::npos;
    if (!of_stranger || !fault.remedy.starts_with(kKnown)) continue;
    std::set<std::string> keys;
    std::string_view rest = std::string_view(fault.remedy).substr(kKnown.size());
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(", "), rest.size());
      keys.emplace(rest.substr(0, comma));
      rest.remove_prefix(std::min(rest.size(), comma + 2));
    }
    return keys;
  }
  FAIL("nothing said of the unknown key:\n" << charter << to_string(reading.faults, "f"));
  return {};
}

std::string with_stranger(const MapPlace& place) {
  std::string more = place.charter;
  more.replace(more.find('@'), 1, std::string(kStranger) + ": 1");
  return (place.schema.empty() ? "name: t\ninstructions: x\n" : "name: t\n") + more + "\n";
}

TEST_CASE("every key that the reader knows is in the schema, and the reverse") {
  for (const MapPlace& place : map_places()) {
    CAPTURE(place.charter);
    std::set<std::string> in_schema = keys_of(at(place.schema));
    in_schema.erase("include");  // it is gone when the reader comes
    CHECK(keys_known(with_stranger(place)) == in_schema);
    CHECK_FALSE(schema_faults(with_stranger(place)).empty());
  }
}

// Of the schema, every map with fixed keys.
void add_fixed_maps(const Json& schema, std::set<const Json*>& maps) {
  if (const JsonArray* items = schema.if_array()) {
    for (const Json& item : *items) add_fixed_maps(item, maps);
  }
  if (!schema.is_object()) return;
  const Json* more = schema.find("additionalProperties");
  if (more != nullptr && more->if_boolean() != nullptr) maps.insert(&schema);
  for (const JsonMember& member : schema.object().members()) add_fixed_maps(member.value, maps);
}

TEST_CASE("no map of the schema is left out of the comparison") {
  std::set<const Json*> maps;
  add_fixed_maps(schema_document(), maps);
  for (const MapPlace& place : map_places()) maps.erase(&at(place.schema));
  // A choice between maps of one key each, whose reader names no keys: other tests hold them.
  for (const char* one : {"0", "1", "2", "3", "4", "5", "6"}) {
    maps.erase(&at({"$defs", "action", "oneOf", one}));
  }
  for (const char* one : {"1", "2", "3"}) {
    maps.erase(&at({"$defs", "approval_policy", "oneOf", one}));
  }
  maps.erase(&at({"$defs", "approval_policy", "oneOf", "1", "properties", "threshold"}));
  maps.erase(&at(
      {"$defs", "approval_policy", "oneOf", "2", "properties", "pattern", "items", "oneOf", "1"}));
  maps.erase(&at({"$defs", "processor_options"}));
  maps.erase(&at({"properties", "budget", "properties", "tenant", "oneOf", "1", "items"}));
  for (const Json* left : maps) FAIL_CHECK(write_json(*left).substr(0, 200));
}

bool is_charter(const Node& root) {
  return root.find("replies") == nullptr && root.find("name") != nullptr;
}

TEST_CASE("every charter among the examples fits the schema") {
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source() / "examples")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const std::string text = *read_file(entry.path().string(), kFileBytesMax);
    const DocumentResult document = parse_yaml(text);
    REQUIRE(document.root);
    if (!is_charter(*document.root)) continue;
    ++seen;
    CHECK(schema_faults(text) == "");
  }
  CHECK(seen >= 4);
}

// The YAML blocks of a page that are charters, or parts of one.
std::vector<std::string> blocks_of(const std::string& page) {
  std::vector<std::string> blocks;
  for (std::size_t at = page.find("```yaml\n"); at != std::string::npos;
       at = page.find("```yaml\n", at + 1)) {
    const std::size_t begin = page.find('\n', at) + 1;
    blocks.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  return blocks;
}

TEST_CASE("every charter in the documents fits the schema") {
  std::size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(source() / "docs")) {
    if (entry.path().extension() != ".md") continue;
    for (const std::string& block : blocks_of(*read_file(entry.path().string(), kFileBytesMax))) {
      const DocumentResult document = parse_yaml(block);
      if (!document.root || !is_charter(*document.root)) continue;
      CAPTURE(entry.path().filename().string());
      CAPTURE(block);
      ++seen;
      CHECK(schema_faults(block) == "");
    }
  }
  CHECK(seen >= 2);
}

TEST_CASE("parts of a charter in charter.md fit the schema") {
  std::string page = *read_file((source() / "docs/charter.md").string(), kFileBytesMax);
  page.resize(page.find("## A script"));
  for (const std::string& block : blocks_of(page)) {
    const DocumentResult document = parse_yaml(block);
    if (!document.root) continue;  // one that shows a key twice, with two of its values
    CAPTURE(block);
    if (document.root->find("include") != nullptr) continue;  // there null removes
    const bool whole = document.root->find("name") != nullptr;
    CHECK(schema_faults(whole ? block : "name: t\n" + block) == "");
  }
}

TEST_CASE("faults that an editor can see are faults of the schema") {
  CHECK(schema_faults(release_charter()) == "");
  for (const char* bad : {"limits: { steps: 0 }",
                          "limits: { steps: many }",
                          "limits: { time: 5 minutes }",
                          "limits: { cost: 2 }",
                          "temperature: 3",
                          "effort: heroic",
                          "model: 7",
                          "start: n",
                          "tools: { define: { a: {} } }",
                          "tools: { define: { a: { command: ./a } } }",
                          "tools: { define: { a: { command: [x], effect: twice } } }",
                          "vars: { a: 1 }",
                          "nodes: { A: { instructions: x } }",
                          "nodes: { a: { next: { b: 7 } } }",
                          "nodes: { a: { next: { b: { description: x } } } }",
                          "nodes: { a: { workers: { w: { node: b, start: now } } } }",
                          "nodes: { a: { workers_on_end: leave } }",
                          "nodes: { a: { commands: { c: { do: [] } } } }",
                          "nodes: { a: { commands: { c: { do: [{ patch: {}, cede: 1 }] } } } }",
                          "flow: { phases: [] }",
                          "flow: { phases: [{ node: a }] }",
                          "flow: { phases: [{ name: a, node: b, map: { over: input } }] }",
                          "flow: { phases: [{ name: a, await: { timeout: 1s } }] }",
                          "gate: { blocks: 0 }",
                          "agents: { a: {} }",
                          "agents: { a: { charter: x, instructions: y } }",
                          "subagents: { depth: 0 }",
                          "approvals: sometimes",
                          "sandbox: { network: some }",
                          "processors: { input: [{ pii: {}, size: {} }] }",
                          "mcp: {}",
                          "guards: { tool_errors: 1 }"}) {
    CAPTURE(bad);
    CHECK_FALSE(schema_faults("name: t\n" + std::string(bad) + "\n").empty());
  }
}

}  // namespace
}  // namespace pawl
