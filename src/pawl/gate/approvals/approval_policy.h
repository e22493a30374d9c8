// When a person must be asked before a plan (or a single call, which is a plan of one step) is
// carried out. A policy is a value with no state: it may be shared between threads.
//
// As a document:
//   always_approve                                  never asks
//   always_require                                  always asks
//   {threshold: {cost: 0.50, steps: 5, risk: high}} asks above the cost, above the count, from the
//                                                   risk on
//   {pattern: [{tool: "bash", arguments: {command: {regex: "rm .*"}}}]}
//   {any: [ ...policies... ]}                       asks if a member does
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/gate/rules/call_pattern.h"
#include "pawl/json.h"
#include "pawl/permissions.h"
#include "pawl/result.h"

namespace pawl {

// Nothing when there is a fault. `where` begins every path in the faults: "approvals".
std::optional<ApprovalPolicyConfig> read_approval_policy(const Node& node,
                                                         std::vector<Fault>& faults,
                                                         const std::string& where);
// The same from JSON text; an error lists the faults.
Result<ApprovalPolicyConfig> approval_policy_from_json(std::string_view json);
std::string approval_policy_to_json(const ApprovalPolicyConfig& config);

}  // namespace pawl
