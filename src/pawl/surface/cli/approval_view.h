// A call that waits for a person, on a terminal.
#pragma once

#include <string>
#include <vector>

#include "pawl/gate/approvals/approvals.h"

namespace pawl {

struct ApprovalCard {
  std::string text;  // lines, safe for a terminal
  bool needs_expansion = false;
  Digest digest;  // of the exact bytes
};

ApprovalCard card_of(const PendingApproval& pending);
ApprovalCard card_of_plan(const std::vector<PendingApproval>& pending);
// Everything, with nothing left out.
std::string full_text(const PendingApproval& pending);
std::string json_of(const PendingApproval& pending);
// What to type.
std::string hint_of(const PendingApproval& pending);

}  // namespace pawl
