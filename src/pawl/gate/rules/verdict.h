// What one stage of the permission pipeline says of a call. Deny beats ask beats allow, whoever
// says it and in whatever order.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "pawl/permissions.h"

namespace pawl {

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

// The stricter of the two; of equals the first, except that the duty to ask every time is kept.
inline Judgement stricter(Judgement first, Judgement second) {
  const bool every_time = first.asking == Asking::every_time || second.asking == Asking::every_time;
  Judgement kept = second.verdict > first.verdict ? std::move(second) : std::move(first);
  if (every_time) kept.asking = Asking::every_time;
  return kept;
}

}  // namespace pawl
