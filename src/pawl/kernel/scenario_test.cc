#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {

TestRun::TestRun(RunStarted start) {
  takes(std::move(start));
}

TestRun::TestRun(const TestRun&) = default;

TestRun::~TestRun() {
  check_replay();
}

TestRun& TestRun::later(std::uint64_t ms) {
  now_.elapsed_ms += ms;
  now_.at_ms += static_cast<std::int64_t>(ms);
  return *this;
}

TestRun& TestRun::parked_for(std::uint64_t ms) {
  now_.at_ms += static_cast<std::int64_t>(ms);
  return *this;
}

const Record& TestRun::takes(Event event) {
  auto record = advance(run_, std::move(event), now_);
  REQUIRE_MESSAGE(record, (record ? "" : record.error().message));
  CHECK(fault_of(run_) == "");
  records_.push_back(*std::move(record));
  return records_.back();
}

std::string TestRun::refuses(Event event) {
  const std::string before = snapshot();
  auto record = advance(run_, std::move(event), now_);
  REQUIRE(!record);
  CHECK(record.error().code == ErrorCode::conflict);
  CHECK(snapshot() == before);
  return record.error().message;
}

// --- The model ---------------------------------------------------------------------------------

EffectId TestRun::model_effect(InstanceId instance) const {
  for (const OpenEffect& effect : state().open) {
    if (effect.kind == EffectKind::model && effect.instance == instance) return effect.id;
  }
  return {};
}

EffectId TestRun::effect_of(EffectKind kind) const {
  for (const OpenEffect& effect : state().open) {
    if (effect.kind == kind) return effect.id;
  }
  return {};
}

ModelReplied TestRun::reply(std::vector<Block> blocks, ReplyStop stop) const {
  ModelReplied event;
  event.effect = model_effect();
  event.blocks = std::move(blocks);
  event.stop = stop;
  return event;
}

const Record& TestRun::replies(std::vector<Block> blocks, ReplyStop stop) {
  return takes(reply(std::move(blocks), stop));
}

const Record& TestRun::replies_as(InstanceId instance, std::vector<Block> blocks, ReplyStop stop) {
  ModelReplied event = reply(std::move(blocks), stop);
  event.instance = instance;
  event.effect = model_effect(instance);
  return takes(event);
}

const Record& TestRun::fails(ErrorCategory category, std::optional<std::uint64_t> retry_after_ms) {
  return takes(ModelFailed{kRootInstance, model_effect(), category, "down", retry_after_ms, {}});
}

const Record& TestRun::aborts() {
  return takes(ModelAborted{kRootInstance, model_effect(), {}});
}

// --- Tools -------------------------------------------------------------------------------------

EffectId TestRun::call_effect(CallId call) const {
  for (const OpenEffect& effect : state().open) {
    if (effect.call == call) return effect.id;
  }
  return {};
}

ToolFinished TestRun::finish(CallId call, std::string content, ToolEnd end) const {
  ToolFinished event;
  const Call* found = find_call(state(), call);
  event.instance = found == nullptr ? kRootInstance : found->instance;
  event.call = call;
  event.effect = call_effect(call);
  event.end = end;
  event.content_length = content.size();
  event.content = Content(std::move(content));
  return event;
}

const Record& TestRun::finishes(CallId call, std::string content, ToolEnd end) {
  return takes(finish(call, std::move(content), end));
}

const Record& TestRun::learns(CallId call, StatusAnswer answer, std::string content) {
  return takes(ToolStatusLearned{kRootInstance, call, call_effect(call), answer,
                                 Content(std::move(content))});
}

const Record& TestRun::resolves(CallId call, DoubtVerdict verdict, std::string result) {
  const Call* doubtful = find_call(state(), call);
  return takes(DoubtResolved{kRootInstance, call, verdict, Content(std::move(result)), "operator",
                             doubtful == nullptr ? 1 : doubtful->attempts});
}

// --- People and the host -----------------------------------------------------------------------

const Record& TestRun::hears(std::string text) {
  return takes(MessageReceived{kRootInstance, Content(std::move(text)), "user"});
}

const Record& TestRun::pauses() {
  return takes(PauseRequested{"user"});
}

const Record& TestRun::resumes() {
  return takes(ResumeRequested{"user"});
}

const Record& TestRun::cancels() {
  return takes(CancelRequested{"user", ""});
}

const Record& TestRun::ticks() {
  return takes(TimerFired{});
}

const Record& TestRun::parks() {
  return takes(RunWaiting{});
}

const Record& TestRun::ends() {
  return takes(RunFinished{effect_of(EffectKind::end_agent), {}});
}

const Record& TestRun::crashes() {
  ++now_.epoch;
  return takes(DriverAttached{"p" + std::to_string(now_.epoch)});
}

const Record& TestRun::spawns(std::string node, InstanceId parent) {
  return takes(InstanceSpawned{parent, std::move(node), Content("task")});
}

// --- What can be seen --------------------------------------------------------------------------

const Instance& TestRun::instance(InstanceId id) const {
  const Instance* found = find_instance(state(), id);
  REQUIRE(found != nullptr);
  return *found;
}

std::vector<Message> TestRun::transcript(InstanceId id) const {
  std::vector<Message> messages;
  for (const Entry& entry : instance(id).transcript) {
    auto message = message_of(entry, records_.at(entry.seq));
    REQUIRE(message);
    messages.push_back(*std::move(message));
  }
  return messages;
}

std::string TestRun::dialogue(InstanceId id) const {
  return shown_dialogue(transcript(id));
}

std::string TestRun::output() const {
  const auto* finished = std::get_if<Finished>(&state().life);
  const auto seq = finished == nullptr ? instance().last_text : finished->output;
  if (!seq) return "(none)";
  const auto content = output_of(records_.at(*seq));
  return content && content->bytes() != nullptr ? *content->bytes() : "(none)";
}

Names TestRun::yields() const {
  Names names;
  for (const StepEnded& one : decided<StepEnded>()) names.emplace_back(name(one.yield));
  return names;
}

// Folding the bytes gives the same state; deciding again gives the same bytes.
void TestRun::check_replay() const {
  Run folded;
  Run decided;
  for (const Record& record : records_) {
    const std::string bytes = encode_record(record);
    const auto again = advance(decided, record.event, record.stamp);
    CHECK((again && encode_record(*again) == bytes));
    const auto decoded = decode_record(bytes);
    CHECK((decoded && fold(folded, *decoded)));
    CHECK(decided == folded);
  }
  CHECK(encode_snapshot(folded) == snapshot());
}

TEST_CASE("a scenario says what a run heard and said") {
  TestRun run;
  run.replies({says("let me see"), calls("pure")});
  run.finishes(kC1, "42");
  run.replies({says("it is 42")});
  run.ends();

  CHECK(run.dialogue() ==
        "user: hello | assistant: let me see [pure] | c1: 42 | assistant: it is 42");
  CHECK(run.output() == "it is 42");
}

}  // namespace pawl::testing
