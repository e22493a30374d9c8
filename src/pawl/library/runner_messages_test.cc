// Ephemeral messages: rule M13 of docs/charter.md.
#include <doctest/doctest.h>

#include "pawl/journal/record_view.h"
#include "pawl/kernel/codec.h"
#include "pawl/pawl.h"

namespace pawl {
namespace {

constexpr const char* kSecretly = "the customer is in a hurry";

TEST_CASE("M13: an ephemeral message is read by the next model call and written down nowhere") {
  Runner* self = nullptr;
  std::vector<std::string> notes;
  std::string journal;
  Ports ports;
  ports.events = [&](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr) return;
    journal += encode_record((*view)->record);
    if ((*view)->record.seq == 0) CHECK(self->whisper((*view)->run, kSecretly));
  };
  ports.callbacks.before_model.push_back([&](const ModelCallbackContext& context) {
    notes.push_back(context.request.note);
    return CallbackResult::proceed();
  });
  Runner runner(std::move(ports));
  self = &runner;
  RunnableAgent agent;
  agent.charter.name = "hurry";
  agent.charter.instructions = "x";
  ToolSpec spec;
  spec.name = "t";
  spec.effect = EffectClass::pure;
  agent.tools = {runner.tool({spec, [](const auto&) { return std::string("r"); }, {}})};
  agent.executor = runner.scripted({.replies = {ScriptReply::call("t"), ScriptReply::say("done")}});

  const Runner::Result result = runner.run(agent, "go");

  CHECK(result.status == RunStatus::done);
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].find(kSecretly) != std::string::npos);
  CHECK(notes[1].find(kSecretly) == std::string::npos);
  CHECK(journal.find(kSecretly) == std::string::npos);
  CHECK(!runner.whisper(result.run_id, "too late"));
}

TEST_CASE("M13: ephemeral messages are bounded, and for instances that are there") {
  Runner* self = nullptr;
  std::vector<ErrorCode> refused;
  Ports ports;
  ports.events = [&](const RunEvent& event) {
    const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event);
    if (view == nullptr || (*view)->record.seq != 0) return;
    const Status large = self->whisper((*view)->run, std::string(65U << 10U, 'x'));
    const Status nobody = self->whisper((*view)->run, "x", InstanceId{7});
    refused = {large ? ErrorCode::corrupt : large.error().code,
               nobody ? ErrorCode::corrupt : nobody.error().code};
  };
  Runner runner(std::move(ports));
  self = &runner;
  RunnableAgent agent;
  agent.charter.name = "bounded";
  agent.executor = runner.scripted({.replies = {ScriptReply::say("done")}});
  CHECK(runner.run(agent, "go").status == RunStatus::done);
  CHECK(refused == std::vector{ErrorCode::limit_exceeded, ErrorCode::not_found});
}

}  // namespace
}  // namespace pawl
