#include "pawl/charter/charter_limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "pawl/charter/charter_money.h"

namespace pawl {

namespace {

enum class Quantity : std::uint8_t { count, duration, bytes };

struct LimitKey {
  std::string_view key;
  std::uint64_t Limits::* field;
  Quantity quantity;
  std::int64_t high;

  IntRange range() const { return {1, high}; }
};

constexpr std::array<LimitKey, 8> kLimitKeys = {{
    {"steps", &Limits::steps, Quantity::count, kLimitStepsMax},
    {"model_calls", &Limits::model_calls, Quantity::count, kLimitModelCallsMax},
    {"tool_calls", &Limits::tool_calls, Quantity::count, kLimitToolCallsMax},
    {"time", &Limits::time_ms, Quantity::duration, kLimitTimeMaxMs},
    {"tokens", &Limits::tokens, Quantity::count, kLimitTokensMax},
    {"bytes_in", &Limits::bytes_in, Quantity::bytes, kLimitBytesMax},
    {"bytes_out", &Limits::bytes_out, Quantity::bytes, kLimitBytesMax},
    {"branches", &Limits::branches, Quantity::count, kLimitBranchesMax},
}};

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> parse(Quantity quantity, std::string_view text) {
  switch (quantity) {
    case Quantity::count:
      return parse_count(text);
    case Quantity::duration:
      return parse_duration_ms(text);
    case Quantity::bytes:
      return parse_bytes(text);
  }
  return std::nullopt;
}

std::string wanted(const LimitKey& entry) {
  switch (entry.quantity) {
    case Quantity::duration:
      return "a duration such as 250ms, 30s, 10m or 1h, from 1ms to " +
             std::to_string(entry.high / 86'400'000) + "d";
    case Quantity::bytes:
      return "a number of bytes such as 4096, 64KiB or 10MB, from 1 to " +
             std::to_string(entry.high);
    case Quantity::count:
      break;
  }
  return "an integer from 1 to " + std::to_string(entry.high);
}

template <class Keys>
Error unknown(std::string_view what, std::string_view key, const Keys& keys) {
  std::string known;
  for (const auto& entry : keys) known += (known.empty() ? "" : ", ") + std::string(entry.key);
  return {ErrorCode::invalid_argument,
          "there is no " + std::string(what) + " " + quoted(key) + ", only " + known};
}

struct GuardKey {
  std::string_view key;
  std::uint32_t Guards::* field;
};

constexpr std::array<GuardKey, 3> kGuardKeys = {{{"identical_calls", &Guards::identical_calls},
                                                 {"identical_steps", &Guards::identical_steps},
                                                 {"tool_errors", &Guards::tool_errors}}};

std::string guard_wanted(std::string_view key) {
  return quoted(key) + " must be off or an integer from " + std::to_string(kGuardMin) + " to " +
         std::to_string(kGuardMax);
}

// 0: off. nullopt: none of both.
std::optional<std::uint32_t> guard_of(bool off, std::int64_t value) {
  if (off || value == 0) return 0;
  if (value < kGuardMin || value > kGuardMax) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

void take_guard(MapReader& reader, const GuardKey& guard, Guards& guards) {
  const Node* node = reader.take(guard.key);
  if (node == nullptr) return;
  const auto value = guard_of(node->as_string() == "off", node->as_int().value_or(-1));
  if (value) {
    guards.*guard.field = *value;
  } else {
    reader.fault(node->mark(), guard_wanted(guard.key) + ", found " + describe_kind(*node));
  }
}

}  // namespace

void read_limits(const Node& node, std::vector<Fault>& faults, Limits& limits, Spending& spending) {
  MapReader reader(node, faults, "limits");
  for (const LimitKey& entry : kLimitKeys) {
    std::uint64_t& out = limits.*entry.field;
    switch (entry.quantity) {
      case Quantity::count:
        reader.take_int(entry.key, entry.range(), out);
        break;
      case Quantity::duration:
        reader.take_duration_ms(entry.key, entry.range(), out);
        break;
      case Quantity::bytes:
        reader.take_bytes(entry.key, entry.range(), out);
        break;
    }
  }
  read_spending(reader, node, spending);
  reader.finish();
}

void read_guards(const Node& node, std::vector<Fault>& faults, Guards& guards) {
  MapReader reader(node, faults, "guards");
  for (const GuardKey& guard : kGuardKeys) take_guard(reader, guard, guards);
  reader.finish();
}

constexpr std::array<std::string_view, 2> kAfterOutput = {"same_target", "next_target"};

void read_attempts(const Node& node, std::vector<Fault>& faults, RetryPolicy& policy) {
  const std::size_t faults_before = faults.size();
  std::uint64_t& first_delay_ms = policy.first_delay_ms;
  std::uint64_t& delay_max_ms = policy.delay_max_ms;
  MapReader reader(node, faults, "retry");
  reader.take_int("attempts", {1, kAttemptsMax}, attempts_of(policy));
  reader.take_int("failover_after", {1, kAttemptsMax}, failover_after(policy));
  if (const auto choice = reader.take_choice("after_output", kAfterOutput)) {
    policy.after_output = static_cast<AfterOutput>(*choice);
  }
  const bool first_given = reader.take_duration_ms("first_delay", {1, kDelayMaxMs}, first_delay_ms);
  const bool max_given = reader.take_duration_ms("max_delay", {1, kDelayMaxMs}, delay_max_ms);
  reader.finish();
  if (first_delay_ms <= delay_max_ms || faults.size() != faults_before) return;
  const Node* at = node.find(max_given ? "max_delay" : "first_delay");
  if (at == nullptr) return;
  reader.fault(at->mark(),
               "\"first_delay\" (" + std::to_string(first_delay_ms) +
                   "ms) is longer than \"max_delay\" (" + std::to_string(delay_max_ms) + "ms)",
               first_given && max_given ? "" : "give both");
}

Status set_limit(Limits& limits, std::string_view key, std::string_view value) {
  std::string spelled(key);
  std::replace(spelled.begin(), spelled.end(), '-', '_');
  for (const LimitKey& entry : kLimitKeys) {
    if (entry.key != spelled) continue;
    const auto parsed = parse(entry.quantity, value);
    if (!parsed || *parsed < 1 || *parsed > entry.high) {
      return Error{ErrorCode::invalid_argument,
                   std::string(key) + " must be " + wanted(entry) + ", not " + quoted(value)};
    }
    limits.*entry.field = static_cast<std::uint64_t>(*parsed);
    return ok();
  }
  return unknown("limit", spelled, kLimitKeys);
}

Status set_guard(Guards& guards, std::string_view key, std::string_view value) {
  for (const GuardKey& guard : kGuardKeys) {
    if (guard.key != key) continue;
    const auto parsed = guard_of(value == "off", parse_count(value).value_or(-1));
    if (!parsed) {
      return Error{ErrorCode::invalid_argument, guard_wanted(key) + ", not " + quoted(value)};
    }
    guards.*guard.field = *parsed;
    return ok();
  }
  return unknown("guard", key, kGuardKeys);
}

}  // namespace pawl
