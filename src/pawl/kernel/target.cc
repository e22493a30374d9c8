#include "pawl/kernel/target.h"

namespace pawl {

std::string_view provider_of(std::string_view literal) {
  return literal.substr(0, literal.find('/'));
}

void add_failure(std::vector<TargetFailure>& failures, std::uint32_t target, ErrorCategory category,
                 std::string_view message) {
  if (failures.empty() || failures.back().target != target) {
    failures.push_back({target, 0, category, ""});
  }
  TargetFailure& failure = failures.back();
  ++failure.times;
  failure.category = category;
  failure.message = message.substr(0, kFailureMessageBytesMax);
}

std::string describe(const std::vector<TargetFailure>& failures,
                     const std::vector<ModelTarget>& targets) {
  std::string text;
  for (const TargetFailure& failure : failures) {
    if (!text.empty()) text += "; ";
    if (targets.size() > 1 && failure.target < targets.size()) {
      text += targets[failure.target].literal + ": ";
    }
    text += failure.message + " (attempt " + std::to_string(failure.times) + ")";
  }
  return text;
}

}  // namespace pawl
