#include "pawl/testing/fake_provider/script.h"

#include <algorithm>
#include <utility>

namespace pawl::fake {
namespace {

std::optional<FakeCall> call_on_line(const ModelRequest& request, std::string_view line) {
  constexpr std::string_view kCall = "call ";
  if (!line.starts_with(kCall)) return std::nullopt;
  line.remove_prefix(kCall.size());
  const std::size_t space = std::min(line.find(' '), line.size());
  FakeCall call;
  call.tool = std::string(line.substr(0, space));
  const auto& tools = request.tools;
  if (std::find(tools.begin(), tools.end(), call.tool) == tools.end()) return std::nullopt;
  if (space + 1 < line.size()) call.input = std::string(line.substr(space + 1));
  if (!check_json(call.input)) return std::nullopt;
  return call;
}

}  // namespace

FakeScript::FakeScript(std::vector<FakeReply> list) {
  for (FakeReply& reply : list) {
    ScriptedReply scripted;
    scripted.reply = std::move(reply);
    replies.push_back(std::move(scripted));
  }
}

bool condition_holds(const ReplyCondition& condition, const ModelRequest& request,
                     std::uint64_t nth) {
  if (condition.nth != 0 && condition.nth != nth) return false;
  if (request.last_user.find(condition.user) == std::string::npos) return false;
  if (condition.model.empty()) return true;
  if (!condition.model.ends_with('*')) return request.model == condition.model;
  return request.model.starts_with(
      std::string_view(condition.model).substr(0, condition.model.size() - 1));
}

bool knows_model(const FakeScript& script, const std::string& model) {
  if (script.models.empty()) return !model.empty();
  return std::find(script.models.begin(), script.models.end(), model) != script.models.end();
}

ScriptRun::ScriptRun(FakeScript script)
    : script_(std::move(script)), given_(script_.replies.size(), 0) {}

Result<FakeReply> ScriptRun::next(const ModelRequest& request, std::uint64_t nth) {
  if (script_.replies.empty()) return echo_reply(request);
  const auto find = [&]() -> const ScriptedReply* {
    for (std::size_t i = 0; i < script_.replies.size(); ++i) {
      const ScriptedReply& each = script_.replies[i];
      if (given_[i] >= each.times || !condition_holds(each.when, request, nth)) continue;
      ++given_[i];
      return &each;
    }
    return nullptr;
  };
  const ScriptedReply* found = find();
  if (found == nullptr && script_.after_last == FakeScript::AfterLast::begins_again) {
    std::fill(given_.begin(), given_.end(), 0);
    found = find();
  }
  if (found != nullptr) return found->reply;
  return Error{ErrorCode::not_found, "the script " + script_.name + " has no reply for request " +
                                         std::to_string(nth) + " (model " + request.model + ")"};
}

FakeReply echo_reply(const ModelRequest& request) {
  FakeReply reply;
  const std::string& text = request.last_user;
  for (std::size_t from = 0; from < text.size() && !request.tools.empty();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    if (auto call = call_on_line(request, std::string_view(text).substr(from, to - from))) {
      if (reply.calls.size() < kReplyCallsMax) reply.calls.push_back(*std::move(call));
    }
    from = to + 1;
  }
  if (reply.calls.empty()) reply.text = {text.empty() ? "(nothing was said)" : text};
  return reply;
}

}  // namespace pawl::fake
