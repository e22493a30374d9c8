// Whatever happens to a run, each request its kernel decides on is one that the provider takes,
// written for each of the four wires. PAWL_HISTORIES=n tries n of them, PAWL_SEED=n repeats one.
#include "pawl/adapter/provider/kernel_history_test.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "pawl/adapter/provider/common/random_sampling_test.h"
#include "pawl/adapter/provider/openai/chat_quirks.h"

namespace pawl::provider {
namespace {

constexpr std::uint64_t kEventsOfOneHistoryMax = 2'000;

using Corners = std::map<std::string, std::uint64_t>;

// What must have happened to some run before one of its requests, or no history proves much.
const std::vector<std::string> kCorners = {
    "a crash with effects under way",
    "a call denied",
    "a call refused",
    "a doubt that the model is told of",
    "a doubt that somebody resolved",
    "a late result",
    "a call run again",
    "a pause",
    "a message in the middle",
    "a summary",
    "a structural cut",
    "another provider wrote a part",
    "a session goes on",
    "a session behind another's reply",
    "a reply cut at its bound",
    "a turn of the provider's paused",
    "a turn given to the host",
    "a native result",
    "a branch",
    "an answer asked for again",
    "an attempt aborted",
};
// After these there is no request: it is enough that there were such runs.
const std::vector<std::string> kEnds = {"a cancel", "a refusal"};

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

template <class D>
bool decided(const Record& record) {
  return std::any_of(record.decisions.begin(), record.decisions.end(),
                     [](const Decision& one) { return std::holds_alternative<D>(one); });
}
template <class E>
bool is(const Record& record) {
  return std::holds_alternative<E>(record.event);
}

std::vector<std::pair<std::string, bool>> happenings(const Record& record) {
  const auto* reply = std::get_if<ModelReplied>(&record.event);
  const auto stops = [reply](ReplyStop stop) { return reply != nullptr && reply->stop == stop; };
  return {{"a crash with effects under way",
           is<DriverAttached>(record) && decided<AttemptDiscarded>(record)},
          {"a call denied", decided<CallDenied>(record)},
          {"a call refused", decided<CallRefused>(record)},
          {"a doubt that the model is told of", decided<CallUnknown>(record)},
          {"a doubt that somebody resolved", is<DoubtResolved>(record)},
          {"a late result", is<ResultCameLate>(record)},
          {"a call run again", decided<CallRetried>(record)},
          {"a pause", decided<PauseBegan>(record)},
          {"a message in the middle", is<MessageReceived>(record)},
          {"a reply cut at its bound", stops(ReplyStop::max_tokens)},
          {"a turn of the provider's paused", stops(ReplyStop::pause_turn)},
          {"a turn given to the host", is<ExternalTurnPushed>(record)},
          {"a branch", decided<InstanceBorn>(record)},
          {"an answer asked for again", reply != nullptr && !reply->output_fault.empty()},
          {"an attempt aborted", is<ModelAborted>(record)},
          {"a cancel", is<CancelRequested>(record)},
          {"a refusal", stops(ReplyStop::refusal)}};
}

bool is_native(const Block& block) {
  const auto* raw = std::get_if<RawBlock>(&block);
  const std::string* json = raw == nullptr ? nullptr : raw->json.bytes();
  return json != nullptr && json->find("native_tool_result") != std::string::npos;
}

std::size_t calls_in(const Message& message) {
  return static_cast<std::size_t>(
      std::count_if(message.blocks.begin(), message.blocks.end(),
                    [](const Block& one) { return std::holds_alternative<CallBlock>(one); }));
}

// The wires mend what is broken; the kernel leaves nothing to mend: each call has its result before
// the model is asked again, and no result stands alone.
std::string fault_of_pairs(const std::vector<Message>& messages) {
  std::size_t open = 0;
  std::set<CallId> answered;
  for (const Message& message : messages) {
    if (message.role == Role::user) continue;
    if (message.role == Role::assistant) {
      if (open > 0) return "a call has no result before the next reply";
      open = calls_in(message);
    } else {
      if (open-- == 0) return "a result stands alone";
      if (!answered.insert(message.call).second) return "a call has two results";
    }
  }
  return open > 0 ? "a call has no result" : "";
}

// One request of the kernel's, on all wires.
class RequestCheck {
 public:
  RequestCheck(Rng& rng, const KernelHistory& history, const CallModel& effect, Corners& corners)
      : rng_(rng), history_(history), effect_(effect), corners_(corners) {
    instance_ = find_instance(history.run().state(), effect.instance);
    messages_ = history.transcript(*instance_);
    transcript_ = make_transcript(messages_);
    target_ = history.run()->targets.at(effect.target).literal;
  }

  std::string fault(const std::vector<WireUnderTest>& wires) {
    count_corners();
    if (std::string fault = fault_of_pairs(messages_); !fault.empty()) return fault;
    for (const WireUnderTest& wire : wires) {
      if (std::string fault = fault_on(wire); !fault.empty()) return wire.rules.own + ": " + fault;
    }
    return "";
  }

 private:
  void count_corners() {
    bool by_another = false;
    bool native = false;
    for (const Message& message : messages_) {
      by_another |= !message.model.empty() && provider_of(message.model) != provider_of(target_);
      native |= std::any_of(message.blocks.begin(), message.blocks.end(), is_native);
    }
    corners_["another provider wrote a part"] += by_another ? 1 : 0;
    corners_["a native result"] += native ? 1 : 0;
    for (const Entry& entry : instance_->transcript) {
      if (entry.kind == EntryKind::summary) ++corners_["a summary"];
      if (entry.kind == EntryKind::trimmed) ++corners_["a structural cut"];
    }
  }

  // As the driver makes it of a CallModel, for a target of this provider.
  PhaseExecutionRequest request_on(const WireUnderTest& wire) {
    PhaseExecutionRequest request;
    request.run = history_.run()->id;
    request.instance = effect_.instance;
    request.step = effect_.step;
    request.model = wire.rules.own + "/" + wire.models.front();
    request.system_prompt = rng_.one_in(4) ? "" : "Be brief.";
    request.note = step_warning(rules_of(kSemantics), effect_.steps_left);
    for (const PinnedTool& tool : history_.run()->tools) {
      request.tools.emplace_back().name = tool.name;
    }
    randomize(rng_, request);
    if (effect_.output_tokens > 0) request.sampling.max_output_tokens = effect_.output_tokens;
    if (const ProviderSession* session = find_session(*instance_, wire.rules.own)) {
      request.session = session->handle;
      request.session_length = session->length;
    }
    request.transcript = transcript_;
    return request;
  }

  std::string fault_on(const WireUnderTest& wire) {
    const PhaseExecutionRequest request = request_on(wire);
    WireOptions options;
    options.name = wire.rules.own;
    options.base_url = "https://api.example.com";
    options.model = random_model(rng_, wire.models);
    const bool resumes = wire.sessions == WireUnderTest::Sessions::kept && !request.session.empty();
    if (resumes) options.resume = WireOptions::Resume::session;
    if (wire.servers == WireUnderTest::Servers::many) {
      options.quirks = {std::string(rng_.pick(known_chat_servers())), "documents"};
    }
    const auto body = wire.dialect->encode(request, load_conversation(request).value(), options);
    if (!body) return body.error().message;
    const std::string text = body->body.whole();
    std::string fault = wire.fault(text, options);
    if (fault.empty() && resumes) fault = fault_of_session(request, text);
    return fault.empty() ? "" : fault + "\n" + text;
  }

  // A session that ended with calls goes on with their results, each under the id it knows.
  std::string fault_of_session(const PhaseExecutionRequest& request, const std::string& body) {
    ++corners_["a session goes on"];
    if (request.session_length > messages_.size()) return "a session knows more than there is";
    const auto behind = messages_.begin() + static_cast<std::ptrdiff_t>(request.session_length);
    const bool others = std::any_of(behind, messages_.end(), [](const Message& message) {
      return message.role == Role::assistant;
    });
    corners_["a session behind another's reply"] += others ? 1 : 0;
    const Json json = parse_json(body).value();
    std::set<std::string> asked;
    std::size_t answers = 0;
    for (const Json& item : json.find("input")->array()) {
      const std::string type = openai_test::string_in(item, "type");
      const std::string id = openai_test::string_in(item, "call_id");
      if (type == "function_call") asked.insert(id);
      if (type == "function_call_output" && !asked.contains(id)) ++answers;
    }
    if (request.session_length == 0) return "";
    const Message& last = messages_[request.session_length - 1];
    return answers == calls_in(last) ? "" : "the session waits for other results";
  }

  Rng& rng_;
  const KernelHistory& history_;
  const CallModel& effect_;
  Corners& corners_;
  const Instance* instance_ = nullptr;
  std::vector<Message> messages_;
  std::shared_ptr<const Transcript> transcript_;
  std::string target_;
};

struct Outcome {
  std::uint64_t events = 0;
  std::uint64_t requests = 0;
  Corners corners;
  std::string fault;
};

void live_one_life(std::uint64_t seed, const std::vector<WireUnderTest>& wires, Outcome& outcome) {
  Rng rng(seed);
  KernelHistory history(rng, wires);
  std::set<std::string> happened;
  for (std::uint64_t i = 0; i < kEventsOfOneHistoryMax && !history.is_over(); ++i) {
    const Record* record = history.next();
    if (record == nullptr) continue;
    ++outcome.events;
    for (const auto& [what, so] : happenings(*record)) {
      if (so) happened.insert(what);
    }
    for (const Effect& effect : record->effects) {
      const auto* call = std::get_if<CallModel>(&effect);
      if (call == nullptr) continue;
      ++outcome.requests;
      for (const std::string& what : happened) ++outcome.corners[what];
      const std::string fault = RequestCheck(rng, history, *call, outcome.corners).fault(wires);
      if (fault.empty()) continue;
      outcome.fault = "seed " + std::to_string(seed) + ", record " + std::to_string(record->seq) +
                      " (" + std::string(name(record->event)) + "): " + fault;
      return;
    }
  }
  for (const std::string& end : kEnds) outcome.corners[end] += happened.count(end);
}

}  // namespace

TEST_CASE("no history of the kernel's makes a request that a provider would refuse") {
  const std::vector<WireUnderTest> wires = wires_under_test();
  const std::uint64_t seed = number_of("PAWL_SEED", 0);
  const std::uint64_t count = seed > 0 ? 1 : number_of("PAWL_HISTORIES", 4'000);
  Outcome outcome;

  for (std::uint64_t i = 0; i < count && outcome.fault.empty(); ++i) {
    live_one_life(seed > 0 ? seed : i + 1, wires, outcome);
  }

  REQUIRE_MESSAGE(outcome.fault.empty(), outcome.fault << "\n  repeat with PAWL_SEED");
  std::string corners;
  for (const auto& [what, times] : outcome.corners) {
    corners += what + ": " + std::to_string(times) + "; ";
  }
  MESSAGE(count << " histories, " << outcome.events << " events, " << outcome.requests
                << " requests, each on four wires; " << corners);
  if (seed > 0) return;
  for (const std::string& what : kCorners) CHECK_MESSAGE(outcome.corners[what] > 0, what);
  for (const std::string& what : kEnds) CHECK_MESSAGE(outcome.corners[what] > 0, what);
}

}  // namespace pawl::provider
