// What one stage of the permission pipeline says of a call. Deny beats ask beats allow, whoever
// says it and in whatever order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl {

// In the order of strictness: comparisons rely on it.
enum class Verdict : std::uint8_t { allow, ask, deny };

inline std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::allow:
      return "allow";
    case Verdict::ask:
      return "ask";
    case Verdict::deny:
      break;
  }
  return "deny";
}

inline std::optional<Verdict> parse_verdict(std::string_view word) {
  for (const Verdict verdict : {Verdict::allow, Verdict::ask, Verdict::deny}) {
    if (name(verdict) == word) return verdict;
  }
  return std::nullopt;
}

// Whether an answer that was given once may stand for later calls that are the same.
enum class Asking : std::uint8_t { may_be_remembered, every_time };

struct Judgement {
  Verdict verdict = Verdict::allow;
  std::string rule = {};    // who decided: "allow-list", "trust", the id of a rule
  std::string reason = {};  // for the person and for the model: what to do instead
  Asking asking = Asking::may_be_remembered;

  friend bool operator==(const Judgement&, const Judgement&) = default;
};

// The stricter of the two; of equals the first, except that the duty to ask every time is kept.
inline Judgement stricter(Judgement first, Judgement second) {
  const bool every_time = first.asking == Asking::every_time || second.asking == Asking::every_time;
  Judgement kept = second.verdict > first.verdict ? std::move(second) : std::move(first);
  if (every_time) kept.asking = Asking::every_time;
  return kept;
}

}  // namespace pawl
