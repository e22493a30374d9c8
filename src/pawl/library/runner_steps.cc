#include "pawl/kernel/transcript.h"
#include "pawl/library/runner_parts.h"

namespace pawl {

// Follows the journal with its own fold, so that every step shows the tree exactly as it was.
struct Runner::Steps::Feed {
  Parts& parts;
  JournalWalker walker;
  std::shared_ptr<void> subscription;
  std::map<InstanceId, std::size_t> seen;  // transcript entries already shown
  std::vector<MachineStep> ready;
  bool news = true;
  bool ended = false;
  Runner::Result result;

  Feed(Parts& owner, const RunId& run) : parts(owner), walker(*owner.engine->store().reader, run) {
    subscription = parts.engine->subscribe([this](const RunEvent& event) {
      if (std::holds_alternative<std::shared_ptr<const RecordView>>(event)) news = true;
    });
  }

  void read() {
    news = false;
    // A run that is not durable yet is not there yet.
    const Status walked = walker.walk([this](const Record& record, const Run& run) {
      for (const Decision& decision : record.decisions) {
        if (const auto* step = std::get_if<StepEnded>(&decision)) take(*step, record, run.state());
      }
      return true;
    });
    if (!walked && walked.error().code != ErrorCode::not_found) ended = true;
  }

  // What an instance hands over, in the record or when the calls of its reply have ended.
  std::optional<std::string> ceded_in(const Record& record, InstanceId id) const {
    const auto text_of = [this](const Content& content) -> std::optional<std::string> {
      auto text = resolve(*parts.engine->store().reader, walker.loaded().run->id, content);
      return text ? std::optional(*std::move(text)) : std::nullopt;
    };
    for (const Decision& decision : record.decisions) {
      const auto* planned = std::get_if<LeavePlanned>(&decision);
      if (planned != nullptr && planned->instance == id) return text_of(planned->leave.words);
      const auto* left = std::get_if<InstanceEnded>(&decision);
      if (left != nullptr && left->instance == id) return text_of(left->content);
    }
    return std::nullopt;
  }

  static InstanceInfo info_of(const Instance& one) {
    const auto word = [](const auto& phase) { return std::string_view(phase.kName); };
    return {one.id, one.parent, one.node, one.name, std::visit(word, one.phase), one.depth};
  }

  void take(const StepEnded& ended_step, const Record& record, const RunState& state) {
    MachineStep step;
    step.number = ended_step.step;
    step.instance_id = ended_step.instance;
    for (const Instance& one : state.instances) {
      if (is_live(one)) step.instance.push_back(info_of(one));
    }
    step.yield_reason = ended_step.yield;
    step.done = std::holds_alternative<Ending>(state.course) || is_waiting(state);
    step.history = history(ended_step.instance, state);
    if (ended_step.yield == YieldReason::cede) {
      step.cede_content = ceded_in(record, ended_step.instance);
      if (!step.cede_content) step.cede_content = last_text(step.history);
    }
    for (const Instance& instance : state.instances) {
      if (const Suspended* phase = std::get_if<Suspended>(&instance.phase)) {
        step.suspended_instances.push_back(
            {instance.id, phase->suspend_id, phase->reason, phase->metadata});
      }
    }
    ready.push_back(std::move(step));
  }

  std::vector<Message> history(InstanceId id, const RunState& state) {
    std::vector<Message> messages;
    const Instance* instance = find_instance(state, id);
    if (instance == nullptr) return messages;
    JournalReader& reader = *parts.engine->store().reader;
    for (std::size_t& i = seen[id]; i < instance->transcript.size(); ++i) {
      const auto record = read_record(reader, state.id, instance->transcript[i].seq);
      if (!record) continue;
      auto message = message_of(instance->transcript[i], *record);
      if (message) messages.push_back(*std::move(message));
    }
    return messages;
  }

  static std::optional<std::string> last_text(const std::vector<Message>& messages) {
    if (messages.empty()) return std::nullopt;
    std::string text;
    for (const Block& block : messages.back().blocks) {
      const TextBlock* one = std::get_if<TextBlock>(&block);
      if (one != nullptr && one->text.bytes() != nullptr) text += *one->text.bytes();
    }
    return text;
  }
};

Runner::Steps::Steps(Parts& parts, RunId run) : feed_(std::make_shared<Feed>(parts, run)) {}
Runner::Steps::~Steps() = default;
Runner::Steps::Steps(Steps&&) noexcept = default;

std::optional<MachineStep> Runner::Steps::next() {
  Feed& feed = *feed_;
  const auto there = [&feed] {
    if (feed.ready.empty() && feed.news) feed.read();
    return !feed.ready.empty() || feed.ended;
  };
  if (!feed.parts.block([] {}, there)) feed.result.error = std::string(kBlockingTwice);
  if (feed.ready.empty()) return std::nullopt;
  MachineStep step = std::move(feed.ready.front());
  feed.ready.erase(feed.ready.begin());
  return step;
}

const Runner::Result& Runner::Steps::result() const {
  return feed_->result;
}

Runner::Steps Runner::steps(const RunnableAgent& agent, std::string input,
                            std::shared_ptr<const InvocationContext> context) {
  PAWL_ASSERT(parts_->own_loop != nullptr);
  Parts& parts = *parts_;
  auto ended = std::make_shared<std::function<void(const Result&)>>();
  const RunId id = parts.start(agent, std::move(input), std::move(context),
                               [ended](const Result& result) { (*ended)(result); });
  Steps steps(parts, id);
  steps.feed_->result.run_id = id;
  *ended = [weak = std::weak_ptr(steps.feed_)](const Result& result) {
    const auto feed = weak.lock();
    if (!feed) return;
    feed->read();
    feed->ended = true;
    feed->result = result;
  };
  return steps;
}

}  // namespace pawl
