// What the phases of a flow hand to each other: JSON values, found by pointers and put into
// prompts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pawl/json.h"
#include "pawl/kernel/flow_state.h"

namespace pawl {

// The value that the pointer leads to; null: there is none.
Json value_at(const Json& value, std::string_view pointer);
// The same from { input, vars, phases: { NAME: { status, output } } }. The input is JSON where its
// text is an object or a list, else text.
Json flow_value_at(const FlowState& flow, std::string_view pointer);

// The output of a phase, as JSON text.
std::string output_json(const FlowState& flow, std::uint32_t phase);
// Of the phases that it comes after: one's as it is, several as an object by name; the input where
// there are none.
std::string output_before(const FlowState& flow, std::uint32_t phase);
// Of the whole run: that of the last phase, or of the last ones as an object by name.
std::string output_of_flow(const FlowState& flow);

// As it stands in a text: a string as it is, null as nothing, anything else as compact JSON.
std::string inserted(const Json& value);

// All that `when` asks for is so.
bool is_wanted(const FlowState& flow, const PhaseSpec& spec);

// What an instance of the phase is told. `item`: the JSON of the one that it is for.
// limit_exceeded: it is too long.
Result<std::string> prompt_of(const FlowState& flow, std::uint32_t phase,
                              const std::optional<std::string>& item);

// What a person is shown at a checkpoint: {"question", "outputs"}.
std::string checkpoint_shown(const FlowState& flow, std::uint32_t phase);

// The items of a map, in lanes by their keys. An error: what it is over is no list.
Result<MapRun> map_over(const FlowState& flow, const MapSpec& spec);

}  // namespace pawl
