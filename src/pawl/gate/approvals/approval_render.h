// What a person is shown before a call is approved: made from the exact bytes of the arguments,
// never from anybody's description of them.
//
// Every line of what came from outside begins with a mark of ours and is broken before a terminal
// would break it, so that nothing in it can look like our own text. What does not fit is cut in the
// middle, visibly, with its length and digest; then `needs_expansion` is set, and no surface may
// accept an approval before all pages of the full view were shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/gate/approvals/approval_policy.h"
#include "pawl/gate/approvals/visible.h"
#include "pawl/ids.h"

namespace pawl {

inline constexpr std::size_t kShownHeadBytes = 1500;  // of one value, before it is cut
inline constexpr std::size_t kShownTailBytes = 500;
inline constexpr std::size_t kShownValuesMax = 32;          // arguments, or words of a list
inline constexpr std::size_t kShownStepsMax = 20;           // of a plan
inline constexpr std::size_t kShownProseBytes = 500;        // of what the model says
inline constexpr std::size_t kShownTextBytes = 64U << 10U;  // then only names follow
inline constexpr std::size_t kShownColumns = 90;
inline constexpr std::size_t kShownPageBytes = 8U << 10U;  // of arguments, on one page

struct ApprovalSubject {
  std::string tool;
  std::string input;        // the exact bytes
  std::string reason = {};  // why somebody is asked; ours
  std::string prose = {};   // what the model says about it
  std::string place = {};   // directory and level of the sandbox; ours
};

struct ApprovalView {
  std::string text;  // lines, safe for a terminal
  Oddities oddities;
  bool needs_expansion = false;
  std::size_t pages = 0;  // of the full view
  Digest digest;          // sha256 of the exact bytes
};

ApprovalView render_approval(const ApprovalSubject& subject);
// Page `page`, from 0, of the exact bytes with nothing left out; empty behind the last.
std::string render_page(const ApprovalSubject& subject, std::size_t page);

// An ordered list of steps that is approved as one. The digest is over lengths and bytes of all
// tools and inputs; pages are those of the steps one after the other.
ApprovalView render_plan(const Plan& plan, const std::string& reason,
                         const std::string& place = {});
std::string render_plan_page(const Plan& plan, std::size_t page);

}  // namespace pawl
