// Random runs of the real kernel whose models are the four providers': the events are those of the
// kernel's own tests, with the words that providers, tools and people write.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/wires_test.h"
#include "pawl/kernel/codec.h"
#include "pawl/kernel/random_history_test.h"
#include "pawl/kernel/transcript.h"

namespace pawl::provider {

class KernelHistory {
 public:
  KernelHistory(Rng& rng, const std::vector<WireUnderTest>& wires)
      : rng_(rng), wires_(wires), words_(rng, wires.front().rules) {}

  // The record that was taken, or null: the event was refused.
  const Record* next() {
    Event event = testing::RandomHost(rng_, run_.state()).next();
    std::visit([this](auto& one) { write(one); }, event);
    testing::move_clock(rng_, run_.state(), event, now_);
    // Who takes a run over has what was written down, and nothing else.
    if (std::holds_alternative<DriverAttached>(event)) recover();
    auto record = advance(run_, std::move(event), now_);
    if (!record) return nullptr;
    records_.push_back(*std::move(record));
    return &records_.back();
  }

  bool is_over() const { return std::holds_alternative<Finished>(run_->life); }
  const Run& run() const { return run_; }

  std::vector<Message> transcript(const Instance& instance) const {
    std::vector<Message> messages;
    for (const Entry& entry : instance.transcript) {
      messages.push_back(message_of(entry, records_.at(entry.seq)).value());
    }
    return messages;
  }

 private:
  void recover() {
    auto recovered = decode_snapshot(encode_snapshot(run_));
    run_ = *std::move(recovered);
  }

  Content text() { return Content(words_.text()); }

  std::vector<Attachment> attachments() {
    std::vector<Attachment> made;
    while (rng_.one_in(12)) {
      made.push_back({rng_.pick<std::string>({"image/png", "application/pdf"}), "file",
                      Content(std::string("\x89PNG\0bytes", 10))});
    }
    return made;
  }

  void write(RunStarted& start) {
    if (start.targets.empty()) testing::add_random_targets(rng_, start);
    for (ModelTarget& target : start.targets) {
      const WireUnderTest& wire = wires_[rng_.below(wires_.size())];
      target.literal = wire.rules.own + "/" + wire.models.front();
    }
    for (std::uint64_t n = rng_.one_in(4) ? rng_.below(4) : 0; n > 0; --n) {
      start.history.push_back({rng_.one_in(2) ? Speaker::user : Speaker::assistant, text()});
    }
    if (rng_.one_in(10)) start.tools.clear();
    if (rng_.one_in(2)) {  // Nothing ends it early: conversations become long.
      start.limits = Limits{};
      start.guards = Guards{0, 0, 0};
    }
    start.input = text();
    start.attachments = attachments();
  }
  void write(MessageReceived& event) {
    event.text = text();
    event.attachments = attachments();
  }
  void write(ModelReplied& event) {
    const WireUnderTest* wire = asked(event.instance);
    if (rng_.one_in(30)) wire = nullptr;  // A callback answered in the model's place.
    if (wire != nullptr) event.model = wire->rules.own + "/" + wire->models.front();
    write_blocks(event.blocks, wire);
  }
  void write(ExternalTurnPushed& event) { write_blocks(event.blocks, nullptr); }
  void write(ToolFinished& event) { event.content = text(); }
  void write(ToolStatusLearned& event) { event.content = text(); }
  void write(DoubtResolved& event) { event.result = text(); }
  void write(CallDecided& event) { event.text = text(); }
  void write(ContextCompacted& event) { event.summary = text(); }
  void write(InstanceSpawned& event) { event.input = text(); }
  void write(AgentBegan& event) { event.replacement = text(); }
  template <class Other>
  void write(const Other&) {}

  // Whose model this instance waits for.
  const WireUnderTest* asked(InstanceId id) const {
    const Instance* instance = find_instance(run_.state(), id);
    const auto* phase =
        instance == nullptr ? nullptr : std::get_if<AwaitingModel>(&instance->phase);
    if (phase == nullptr) return nullptr;
    const std::string_view provider = provider_of(run_->targets.at(phase->target).literal);
    for (const WireUnderTest& wire : wires_) {
      if (wire.rules.own == provider) return &wire;
    }
    return nullptr;
  }

  void write_blocks(std::vector<Block>& blocks, const WireUnderTest* wire) {
    if (blocks.size() >= kBlocksPerReplyMax) return;
    for (Block& block : blocks) {
      if (auto* said = std::get_if<TextBlock>(&block)) said->text = text();
      if (auto* call = std::get_if<CallBlock>(&block)) {
        call->provider_id = words_.provider_id();
        if (rng_.one_in(2)) call->input = Content(words_.input());
        if (rng_.one_in(4)) call->signature = "c2lnbmF0dXJl";
      }
    }
    if (wire == nullptr) return;
    RandomWords own(rng_, wire->rules);
    while (rng_.one_in(3)) insert(blocks, ThinkingBlock{text(), own.signature(true)});
    while (rng_.one_in(5)) insert(blocks, RawBlock{Content(own.raw(true))});
    if (rng_.one_in(12)) insert(blocks, RawBlock{Content(std::string(kNativeResult))});
  }
  void insert(std::vector<Block>& blocks, Block block) {
    const auto at = static_cast<std::ptrdiff_t>(rng_.below(blocks.size() + 1));
    blocks.insert(blocks.begin() + at, std::move(block));
  }

  // As ReplyAssembler records a call that the executor's own tool performed.
  static constexpr std::string_view kNativeResult =
      R"({"type":"native_tool_result","tool":"Bash","input":"{}","content":"x","outcome":"fine"})";

  Rng& rng_;
  const std::vector<WireUnderTest>& wires_;
  RandomWords words_;
  Run run_;
  std::vector<Record> records_;
  Stamp now_{1, 0, 0};
};

}  // namespace pawl::provider
