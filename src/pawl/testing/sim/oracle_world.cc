// The half of the oracle that watches what is done to the outside world.
#include "pawl/kernel/transcript.h"
#include "pawl/testing/sim/oracle.h"

namespace pawl::sim {
namespace {

std::string text_of(const PhaseExecutionRequest& request) {
  return "the model call of run " + request.run.text + ", step " + std::to_string(request.step) +
         ", attempt " + std::to_string(request.attempt);
}

std::string text_of(const ToolInvocation& invocation) {
  return to_string(invocation.call) + " of run " + invocation.run.text + ", attempt " +
         std::to_string(invocation.attempt);
}

}  // namespace

void Oracle::on_model_called(const PhaseExecutionRequest& request) {
  if (violation_) return;
  Track& track = tracks_[request.run.text];
  for (auto found = track.intents.rbegin(); found != track.intents.rend(); ++found) {
    const auto& [id, effect] = *found;
    const CallModel* call = std::get_if<CallModel>(&effect);
    if (call == nullptr || call->step != request.step || call->attempt != request.attempt ||
        call->instance != request.instance) {
      continue;
    }
    if (!track.performed.insert(id).second) return fail(text_of(request) + " was made twice");
    if (find_effect(track.run.state(), id) == nullptr) {
      return fail(text_of(request) + " was made although it is closed");
    }
    check_allowed(request.run, request.step, HookPoint::before_model);
    return check_transcript(request, track);
  }
  fail(text_of(request) + " was made before its intent was durable");
}

void Oracle::on_model_replied(const PhaseExecutionRequest& request,
                              std::vector<WrittenBlock> blocks) {
  replies_[request.run.text][{request.step, request.attempt}] = std::move(blocks);
}

void Oracle::on_model_told(const PhaseExecutionRequest& request, const ModelReport& told) {
  told_[request.run.text][{request.step, request.attempt}] = told;
}

void Oracle::on_asked_before(const RunId& run, std::uint64_t step_or_call, HookPoint point,
                             HookVerdict verdict) {
  const std::tuple what(run.text, step_or_call, point);
  if (verdict == HookVerdict::proceed) {
    forbidden_.erase(what);
  } else {
    forbidden_.insert(what);
  }
}

void Oracle::check_allowed(const RunId& run, std::uint64_t step_or_call, HookPoint point) {
  if (!forbidden_.contains({run.text, step_or_call, point})) return;
  fail("run " + run.text + " goes on with " + std::to_string(step_or_call) + " although " +
       std::string(name(point)) + " did not let it");
}

// Every call of a reply has one result before the next reply, in order, and it is the right one.
void Oracle::check_transcript(const PhaseExecutionRequest& request, const Track& track) {
  std::vector<CallBlock> asked;
  std::size_t answered = 0;
  const auto messages = load_conversation(request);
  if (!messages) {
    if (track.standing == Track::Standing::damaged) return;  // as it should be
    return fail(text_of(request) +
                ": its conversation cannot be read: " + messages.error().message);
  }
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const Message* const message = &(*messages)[i];
    if (message->role == Role::tool) {
      if (answered == asked.size()) return fail(text_of(request) + ": a result without a call");
      check_result_message(track, *message, asked[answered++]);
      continue;
    }
    if (answered != asked.size()) {
      return fail(text_of(request) + ": a call without a result before message " +
                  std::to_string(i));
    }
    if (message->role != Role::assistant) continue;
    asked.clear();
    answered = 0;
    for (const Block& block : message->blocks) {
      if (const CallBlock* call = std::get_if<CallBlock>(&block)) asked.push_back(*call);
    }
  }
  if (answered != asked.size()) fail(text_of(request) + ": the last calls have no results");
  const std::string fault = track.tree.check_request(request, *messages);
  if (!fault.empty()) fail(text_of(request) + ": " + fault);
}

void Oracle::check_result_message(const Track& track, const Message& message,
                                  const CallBlock& asked) {
  const auto input = track.inputs.find(message.call);
  if (input != track.inputs.end() && asked.input.bytes() != nullptr &&
      input->second != *asked.input.bytes()) {
    return fail("the result of " + to_string(message.call) + " answers another call");
  }
  const auto result = track.results.find(message.call);
  if (result == track.results.end() || message.text.bytes() == nullptr) return;
  if (*message.text.bytes() != result->second) {
    fail("the model reads another result of " + to_string(message.call) + " than was recorded");
  }
}

void Oracle::on_tool_invoked(const ToolInvocation& invocation, const std::string& tool) {
  if (violation_) return;
  Track& track = tracks_[invocation.run.text];
  const auto input = track.inputs.find(invocation.call);
  if (input == track.inputs.end()) return fail(text_of(invocation) + ": nobody asked for it");
  const auto& edited = track.standings[invocation.call].edited;
  const std::string& wanted = edited ? *edited : input->second;
  if (!wanted.empty() && wanted != invocation.input) {
    return fail(text_of(invocation) + ": " + tool + " gets another input than " +
                (edited ? "was approved" : "the model wrote"));
  }
  check_permitted(track, invocation);
  if (!invocation.input.starts_with('{')) {  // what every schema of the simulated tools asks for
    return fail(text_of(invocation) + ": " + tool + " gets an input that its schema refuses");
  }
  const auto known = track.keys.emplace(invocation.call, invocation.key).first;
  if (known->second != invocation.key) return fail(text_of(invocation) + " has another key");
  const auto owner = std::pair(invocation.run.text, invocation.call);
  if (key_owners_.emplace(invocation.key, owner).first->second != owner) {
    return fail(text_of(invocation) + " has the key of another call");
  }
  for (auto found = track.intents.rbegin(); found != track.intents.rend(); ++found) {
    const auto& [id, effect] = *found;
    const RunTool* run = std::get_if<RunTool>(&effect);
    if (run == nullptr || run->call != invocation.call || run->attempt != invocation.attempt) {
      continue;
    }
    if (!track.performed.insert(id).second) fail(text_of(invocation) + " was started twice");
    if (find_effect(track.run.state(), id) == nullptr) {
      fail(text_of(invocation) + " was started although it is closed");
    }
    return check_allowed(invocation.run, static_cast<std::uint64_t>(invocation.call),
                         HookPoint::before_tool);
  }
  fail(text_of(invocation) + " was started before its intent was durable");
}

void Oracle::on_tool_answered(const ToolInvocation& invocation, const ToolOutcome& outcome) {
  outcomes_[invocation.run.text].emplace(
      Attempt{static_cast<std::uint64_t>(invocation.call), invocation.attempt}, outcome);
}

void Oracle::on_summary_asked(const CompactionRequest& request) {
  if (violation_) return;
  Track& track = tracks_[request.run.text];
  const OpenEffect* open = nullptr;
  for (const OpenEffect& one : track.run->open) {
    if (one.kind == EffectKind::compact) open = &one;
  }
  const std::string where = "a summary of run " + request.run.text;
  if (open == nullptr) return fail(where + " is asked for, and its intent is not durable");
  if (!track.performed.insert(open->id).second) fail(where + " is asked for twice");
  summing_[request.run.text] = open->id;
}

void Oracle::on_summary_told(const RunId& run, const Usage& usage) {
  summaries_[{run.text, summing_[run.text]}] = usage;
}

void Oracle::on_status_asked(const ToolInvocation& invocation) {
  if (violation_) return;
  Track& track = tracks_[invocation.run.text];
  const auto known = track.keys.find(invocation.call);
  if (known != track.keys.end() && known->second != invocation.key) {
    fail(text_of(invocation) + " is asked about under another key");
  }
  for (auto found = track.intents.rbegin(); found != track.intents.rend(); ++found) {
    const auto& [id, effect] = *found;
    const AskStatus* question = std::get_if<AskStatus>(&effect);
    if (question == nullptr || question->call != invocation.call) continue;
    if (!track.performed.insert(id).second) fail(text_of(invocation) + " is asked about twice");
    if (find_effect(track.run.state(), id) == nullptr) {
      fail(text_of(invocation) + " is asked about although nobody wants to know");
    }
    return;
  }
  fail(text_of(invocation) + " is asked about before that was durable");
}

void Oracle::on_effect(const std::string& key, EffectClass effect_class) {
  ++effects_total_;
  const int times = ++effects_[key];
  const bool repeatable =
      effect_class == EffectClass::pure || effect_class == EffectClass::idempotent;
  if (times > 1 && !repeatable) {
    const auto& [run, call] = key_owners_[key];
    fail(to_string(call) + " of run " + run + " took effect " + std::to_string(times) + " times");
  }
}

}  // namespace pawl::sim
