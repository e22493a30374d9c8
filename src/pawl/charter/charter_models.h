// Which model a charter runs on, and how it is to answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/charter/charter.h"

namespace pawl {

inline constexpr std::int64_t kKeepMessagesMax = 10'000;
inline constexpr std::int64_t kRatioPercentMin = 10;
inline constexpr std::int64_t kRatioPercentMax = 95;

// Who is asked for a model: the charter as a whole, or every node names its own.
enum class ModelOf : std::uint8_t { charter, nodes };

// The section `models`, and the value of a `model` key (nullptr: there is none), which may be a
// chain of targets and names. Without a choice it is the only entry; without any entry the model is
// left to the configuration. `reader` reads the charter. Names of others are not known here.
void read_charter_models(MapReader& reader, const Node* chosen, ModelOf model,
                         std::vector<Fault>& faults, Charter& charter);

// `max_tokens`, `temperature`, `effort`, `stream`: those that are given replace what is there.
void read_sampling(MapReader& reader, SamplingOptions& sampling);

// `system_header`, `compaction`.
void read_conversation(MapReader& reader, std::vector<Fault>& faults, Charter& charter);

// The section `output`: its schema is compiled, so that a fault in it is found before a run is.
void read_output(const Node& node, std::vector<Fault>& faults, std::string& schema,
                 const std::string& where);

// `off`, or a map: what it says replaces what is there.
void read_compaction(const Node& node, std::vector<Fault>& faults, CompactionPolicy& policy,
                     const std::string& where);

// A model, or a chain of models and names. Names of others are not known here.
void read_chain(MapReader& reader, const Node& node, std::string_view key, std::string& out);

// "0.7" with `digits` 3 is 700: decimal text as an integer, never by way of binary floating point.
// nullopt: no such number, or more digits.
std::optional<std::uint64_t> parse_fixed_point(std::string_view text, std::size_t digits);

}  // namespace pawl
