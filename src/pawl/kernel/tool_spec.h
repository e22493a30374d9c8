// What the kernel knows of a tool. Tools of every origin (native, command, MCP) are described
// alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/base/result.h"
#include "pawl/kernel/node_spec.h"

namespace pawl {

// What may be done about a call whose outcome nobody knows.
enum class EffectClass : std::uint8_t {
  pure,          // no effect: run it again
  idempotent,    // takes our key: run it again with the same key
  reconcilable,  // can be asked by key what happened
  once,          // nothing: a person, or the model, must be told
};

enum class OnDoubt : std::uint8_t {
  wait,        // the run waits until somebody resolves the call
  tell_model,  // the model gets an outcome_unknown result
};

// A terminal tool: when it has succeeded the turn is over, and its result is the answer.
enum class EndsTurn : std::uint8_t { no, yes };

inline constexpr std::int64_t kToolTimeoutDefaultMs = 30'000;
inline constexpr std::int64_t kToolTimeoutMaxMs = 24LL * 3600 * 1000;
inline constexpr std::uint64_t kToolOutputDefaultBytes = 64U << 10U;
inline constexpr std::uint64_t kToolOutputMaxBytes = 16U << 20U;
inline constexpr std::size_t kToolNameBytesMax = 128;

struct ToolSpec {
  std::string name;  // may carry a namespace: mcp__github__search
  std::string description;
  std::string input_schema = "{}";  // JSON text
  EffectClass effect = EffectClass::once;
  OnDoubt on_doubt = OnDoubt::wait;
  std::int64_t timeout_ms = kToolTimeoutDefaultMs;
  std::uint64_t output_bytes_max = kToolOutputDefaultBytes;  // shown to the model
  EndsTurn ends_turn = EndsTurn::no;
  ToolScope scope = ToolScope::charter;  // where the definition stands
  std::string owner = {};                // the node or the pack that it stands in

  friend bool operator==(const ToolSpec&, const ToolSpec&) = default;
};

// Tells definitions of one name in several scopes apart; of the charter's own it is the name.
std::string definition_key(const std::string& name, ToolScope scope, const std::string& owner);

std::string_view name(EffectClass effect);
std::string_view name(OnDoubt policy);
std::string_view name(EndsTurn value);
Result<EffectClass> parse_effect_class(std::string_view text);
Result<OnDoubt> parse_on_doubt(std::string_view text);

}  // namespace pawl
