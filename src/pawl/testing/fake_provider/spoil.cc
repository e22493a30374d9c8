#include "pawl/testing/fake_provider/spoil.h"

#include <algorithm>

namespace pawl::fake {
namespace {

constexpr std::uint64_t kDepth = 100'000;
constexpr std::uint64_t kManyCalls = 10'000;
constexpr std::uint64_t kManyCallsMax = 1'000'000;
constexpr std::string_view kKeyMark = "{{key}}";

FakeError error_of(const FaultSpec& fault, const std::string& key) {
  FakeError error;
  error.status = status_of(fault);
  error.type = fault.type;
  error.retry_after = fault.retry_after;
  error.message = fault.message;
  if (fault.message.empty()) {
    const bool about_key = error.status == 401 || error.status == 403;
    error.message = about_key ? "Incorrect API key provided: " + key + "."
                              : "fault: status " + std::to_string(error.status);
  }
  const std::size_t mark = error.message.find(kKeyMark);
  if (mark != std::string::npos) error.message.replace(mark, kKeyMark.size(), key);
  return error;
}

FakeCall& first_call(FakeReply& reply) {
  if (reply.calls.empty()) reply.calls.push_back({"shell", R"({"path":"/tmp/x"})", {}});
  return reply.calls.front();
}

}  // namespace

void spoil(FakeReply& reply, const std::string& key) {
  if (!reply.fault) return;
  const FaultSpec& fault = *reply.fault;
  if (fault.kind == FaultKind::status) {
    reply.error = error_of(fault, key);
  } else if (fault.kind == FaultKind::truncated_input) {
    std::string& input = first_call(reply).input;
    input.resize(input.size() / 2);
  } else if (fault.kind == FaultKind::deep_json) {
    const std::uint64_t depth = fault.count != 0 ? fault.count : kDepth;
    first_call(reply).input = std::string(depth, '[') + std::string(depth, ']');
  } else if (fault.kind == FaultKind::many_calls) {
    const FakeCall call = first_call(reply);
    reply.calls.assign(std::min(fault.count != 0 ? fault.count : kManyCalls, kManyCallsMax), call);
  }
}

}  // namespace pawl::fake
