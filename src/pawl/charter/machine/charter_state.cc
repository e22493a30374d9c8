#include <array>

#include "pawl/charter/machine/machine_reading.h"
#include "pawl/json.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 2> kOwners = {"run", "external"};

std::string first_of(const std::vector<SchemaFault>& faults) {
  return faults.empty() ? "" : describe(faults.front());
}

void take_state_schema(MapReader& reader, StateFacts& facts) {
  const Node* node = reader.take("schema");
  if (node == nullptr) return;
  std::string text = to_json(*node);
  if (text.size() > kSchemaBytesMax) {
    return reader.fault(node->mark(), "\"schema\" has " + std::to_string(text.size()) +
                                          " bytes and may have " + std::to_string(kSchemaBytesMax));
  }
  const auto json = parse_json(text);
  auto schema = json ? Schema::compile(*json) : Result<Schema>(json.error());
  if (!schema) return reader.fault(node->mark(), "\"schema\": " + schema.error().message);
  facts.schema = *std::move(schema);
  facts.spec->schema = std::move(text);
}

void take_initial(MapReader& reader, StateFacts& facts) {
  const Node* node = reader.take("initial");
  facts.takes_empty = !facts.schema || facts.schema->validate(JsonObject()).empty();
  if (node == nullptr) return;
  facts.mark = node->mark();
  facts.spec->initial = to_json(*node);
  if (facts.spec->initial.size() > kStateBytesMax) {
    reader.fault(node->mark(), "\"initial\" has " + std::to_string(facts.spec->initial.size()) +
                                   " bytes and may have " + std::to_string(kStateBytesMax));
    facts.initial = StateFacts::Initial::fits;  // one fault is enough
    return;
  }
  facts.why = state_fault(facts, *node);
  facts.initial = facts.why.empty() ? StateFacts::Initial::fits : StateFacts::Initial::unfit;
}

}  // namespace

std::string state_fault(const StateFacts& state, const Node& value) {
  const std::string text = to_json(value);
  if (text.size() > kStateBytesMax) {
    return "it has " + std::to_string(text.size()) + " bytes and may have " +
           std::to_string(kStateBytesMax);
  }
  if (!state.schema) return "";
  const auto json = parse_json(text);
  return json ? first_of(state.schema->validate(*json)) : json.error().message;
}

StateFacts read_state(const Node& node, std::vector<Fault>& faults, const std::string& where) {
  StateFacts facts;
  facts.mark = node.mark();
  facts.spec.emplace();
  MapReader reader(node, faults, where);
  take_state_schema(reader, facts);
  take_initial(reader, facts);
  if (const auto owner = reader.take_choice("owner", kOwners)) {
    facts.spec->owner = static_cast<StateOwner>(*owner);
  }
  reader.finish();
  return facts;
}

}  // namespace pawl
