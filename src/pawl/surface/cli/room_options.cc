#include "pawl/surface/cli/room_options.h"

#include <algorithm>
#include <array>

#include "pawl/charter/charter_limits.h"
#include "pawl/surface/cli/run_options.h"

namespace pawl {
namespace {

const std::vector<OptionSpec>& room_options() {
  static const std::vector<OptionSpec> kOptions = {
      {"steps", '\0', Takes::value, "+N", "More steps: +20 for twenty more, 70 for 70 in all."},
      {"model-calls", '\0', Takes::value, "+N", "Likewise, model calls."},
      {"tool-calls", '\0', Takes::value, "+N", "Likewise, tool calls."},
      {"time", '\0', Takes::value, "+D", "Likewise, time at work, such as +10m."},
      {"tokens", '\0', Takes::value, "+N", "Likewise, tokens."},
      {"bytes-in", '\0', Takes::value, "+B", "Likewise, bytes of input, such as +1MB."},
      {"bytes-out", '\0', Takes::value, "+B", "Likewise, bytes the model writes."},
      {"branches", '\0', Takes::value, "+N", "Likewise, instances spawned."},
      {"cost", '\0', Takes::value, "+AMOUNT", "Likewise, money, such as +1.00 or '+1.00 USD'."},
      {"guard", '\0', Takes::values, "NAME=N",
       "Set a loop guard, such as tool_errors=10 or identical_calls=off. Repeatable."}};
  return kOptions;
}

struct RoomBound {
  std::string_view option;
  std::uint64_t Limits::* field;
};

constexpr std::array<RoomBound, 8> kRoomBounds = {{{"steps", &Limits::steps},
                                                   {"model-calls", &Limits::model_calls},
                                                   {"tool-calls", &Limits::tool_calls},
                                                   {"time", &Limits::time_ms},
                                                   {"tokens", &Limits::tokens},
                                                   {"bytes-in", &Limits::bytes_in},
                                                   {"bytes-out", &Limits::bytes_out},
                                                   {"branches", &Limits::branches}}};

Limits used_in(const Tally& tally) {
  Limits used;
  used.steps = tally.steps;
  used.model_calls = tally.model_calls;
  used.tool_calls = tally.tool_calls;
  used.time_ms = tally.active_ms;
  used.tokens = total_tokens(tally.usage);
  used.bytes_in = tally.bytes_in;
  used.bytes_out = tally.bytes_out;
  used.branches = tally.branches;
  return used;
}

Error less_than_now(std::string_view option, const std::string& text) {
  return {ErrorCode::invalid_argument, "--" + std::string(option) + " " + text +
                                           " is less than the run has; --" + std::string(option) +
                                           " +" + text + " gives it more"};
}

Status raise_bound(const RoomBound& bound, const std::string& text, const RunState& state,
                   Limits& limits) {
  const bool more = text.starts_with('+');
  Limits given;
  const Status taken = set_limit(given, bound.option, more ? text.substr(1) : text);
  if (!taken) return Error{taken.error().code, "--" + taken.error().message};
  std::uint64_t wanted = given.*bound.field;
  // Nobody who says "twenty more" means those that are used already.
  const std::uint64_t had = std::max(state.limits.*bound.field, used_in(state.tally).*bound.field);
  if (more) wanted = add_saturating(had, wanted);
  if (wanted < limits.*bound.field) return less_than_now(bound.option, text);
  limits.*bound.field = wanted;
  return ok();
}

Status raise_cost(const std::string& text, const RunState& state, Limits& limits) {
  const bool more = text.starts_with('+');
  PAWL_TRY(std::uint64_t wanted,
           parse_money_option("cost", more ? text.substr(1) : text, state.prices.currency));
  if (limits.cost_pico == 0) {
    return Error{ErrorCode::invalid_argument, "the run has no limit on its cost to raise"};
  }
  const std::uint64_t had = std::max(limits.cost_pico, state.tally.cost_pico);
  if (more) wanted = add_saturating(had, wanted);
  if (wanted < limits.cost_pico) return less_than_now("cost", text);
  limits.cost_pico = wanted;
  return ok();
}

}  // namespace

Result<Room> room_of(const Arguments& arguments, const RunState& state) {
  Limits limits = state.limits;
  for (const RoomBound& bound : kRoomBounds) {
    const auto text = arguments.one(bound.option);
    if (text) PAWL_CHECK(raise_bound(bound, *text, state, limits));
  }
  if (const auto text = arguments.one("cost")) PAWL_CHECK(raise_cost(*text, state, limits));
  Guards guards = state.guards;
  for (const std::string& text : arguments.many("guard")) {
    PAWL_TRY(const KeyValue pair, parse_key_value(text));
    const Status set = set_guard(guards, pair.key, pair.value);
    if (!set) return Error{set.error().code, "--guard: " + set.error().message};
  }
  Room room;
  if (limits != state.limits) room.limits = limits;
  if (guards != state.guards) room.guards = guards;
  return room;
}

Limits limits_of_turn(const Limits& allowed, const RunState& state) {
  Limits limits = state.limits;
  const Limits used = used_in(state.tally);
  for (const RoomBound& bound : kRoomBounds) {
    const std::uint64_t wanted = add_saturating(used.*bound.field, allowed.*bound.field);
    limits.*bound.field = std::max(limits.*bound.field, wanted);
  }
  return limits;
}

bool asks_for_room(const Arguments& arguments) {
  return std::any_of(room_options().begin(), room_options().end(),
                     [&](const OptionSpec& option) { return arguments.has(option.name); });
}

bool asks_for_more_than_cost(const Arguments& arguments) {
  return std::any_of(room_options().begin(), room_options().end(), [&](const OptionSpec& option) {
    return option.name != "cost" && arguments.has(option.name);
  });
}

std::vector<OptionSpec> with_room_options(std::vector<OptionSpec> own) {
  own.insert(own.end(), room_options().begin(), room_options().end());
  return own;
}

}  // namespace pawl
