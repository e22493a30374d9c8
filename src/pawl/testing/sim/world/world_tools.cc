#include "pawl/testing/sim/world/world.h"

#include <utility>

namespace pawl::sim {
namespace {

// An effect on its way. When its last holder is gone it can no longer land.
class Flight {
 public:
  Flight(World& world, std::string key, EffectClass effect_class)
      : world_(world), key_(std::move(key)), class_(effect_class) {
    ++world_.flying[key_];
  }
  ~Flight() {
    if (--world_.flying[key_] == 0) world_.flying.erase(key_);
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  void land() {
    if (std::exchange(landed_, true)) return;
    world_.oracle.on_effect(key_, class_);
  }

 private:
  World& world_;
  std::string key_;
  EffectClass class_;
  bool landed_ = false;
};

// What is known to both the tool and the operation that was handed out.
struct Answering {
  ToolInvocation invocation;
  std::function<void(ToolOutcome)> done;
  bool over = false;
};

class SimTool final : public Tool {
 public:
  SimTool(World& world, SimLoop& process, ToolSpec spec)
      : world_(world), process_(process), spec_(std::move(spec)), true_class_(spec_.effect) {
    // The planted bug: nobody may know what the tool really is, so everything is simply repeated.
    const bool blind = world_.bug == PlantedBug::blind_rerun && spec_.effect == EffectClass::once;
    if (blind) spec_.effect = EffectClass::idempotent;
  }

  const ToolSpec& spec() const override { return spec_; }

  std::unique_ptr<Operation> invoke(const ToolInvocation& given,
                                    std::function<void(ToolOutcome)> done) override {
    auto answering = std::make_shared<Answering>(Answering{given, std::move(done), false});
    ToolInvocation& invocation = answering->invocation;
    if (world_.bug == PlantedBug::key_from_clock) {
      invocation.key = std::to_string(world_.clock.wall_ms());
    }
    world_.oracle.on_tool_invoked(invocation, spec_.name);
    const bool fails = world_.faults.strikes(FaultKind::tool_failure, 250);
    const bool hangs = !fails && world_.faults.strikes(FaultKind::tool_timeout, 150);
    const std::int64_t lands = world_.rng.between(0, 30);
    if (!fails && (!hangs || world_.rng.one_in(2))) launch(invocation.key, lands);
    const std::int64_t answers = lands + (hangs ? 1'000 : world_.rng.between(0, 30));
    ToolOutcome::Kind kind = ToolOutcome::Kind::succeeded;
    if (fails) kind = ToolOutcome::Kind::failed;
    if (hangs) kind = ToolOutcome::Kind::timed_out;
    process_.at(answers, [this, answering, kind] {
      if (!answering->over) answer(answering, kind);  // else the tool itself may be gone
    });
    return std::make_unique<SimOperation>(*this, answering);
  }

  std::unique_ptr<Operation> status(const ToolInvocation& invocation,
                                    std::function<void(ToolStatus)> done) override {
    world_.oracle.on_status_asked(invocation);
    const bool fails = world_.faults.strikes(FaultKind::tool_failure, 300);
    auto wanted = std::make_shared<bool>(true);
    process_.at(world_.rng.between(0, 20),
                [this, key = invocation.key, fails, wanted, done = std::move(done)] {
                  if (*wanted) done(status_of(key, fails));
                });
    return std::make_unique<Question>(std::move(wanted));
  }

 private:
  class SimOperation final : public Operation {
   public:
    SimOperation(SimTool& tool, std::shared_ptr<Answering> answering)
        : tool_(tool), answering_(std::move(answering)) {}
    ~SimOperation() override { answering_->over = true; }
    SimOperation(const SimOperation&) = delete;
    SimOperation& operator=(const SimOperation&) = delete;
    void abort() override {
      tool_.process_.at(tool_.world_.rng.between(0, 50), [&tool = tool_, answering = answering_] {
        if (!answering->over) tool.answer(answering, ToolOutcome::Kind::aborted);
      });
    }

   private:
    SimTool& tool_;
    std::shared_ptr<Answering> answering_;
  };

  class Question final : public Operation {
   public:
    explicit Question(std::shared_ptr<bool> wanted) : wanted_(std::move(wanted)) {}
    ~Question() override { *wanted_ = false; }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    void abort() override {}

   private:
    std::shared_ptr<bool> wanted_;
  };

  void launch(const std::string& key, std::int64_t delay_ms) {
    auto flight = std::make_shared<Flight>(world_, key, true_class_);
    const bool remote = world_.faults.strikes(FaultKind::tool_crash_remote, 3'000);
    SimLoop& where = remote ? world_.loop : process_;
    where.at(delay_ms, [flight] { flight->land(); });
  }

  void answer(const std::shared_ptr<Answering>& answering, ToolOutcome::Kind kind) {
    answering->over = true;
    if (kind == ToolOutcome::Kind::timed_out && world_.bug == PlantedBug::retry_after_timeout) {
      launch(answering->invocation.key, 5);
    }
    std::string content = "result " + std::to_string(++world_.written);
    if (world_.rng.one_in(40)) content += std::string(5'000, '.');
    const ToolOutcome outcome{kind, content, content.size()};
    world_.oracle.on_tool_answered(answering->invocation, outcome);
    const auto done = answering->done;
    const bool twice = world_.faults.strikes(FaultKind::duplicate_result, 100);
    done(outcome);
    if (twice) done({ToolOutcome::Kind::succeeded, "something else", 14});
  }

  ToolStatus status_of(const std::string& key, bool fails) const {
    if (fails || world_.flying.contains(key)) return {ToolStatus::Kind::unknown, "not known"};
    if (world_.oracle.has_happened(key)) return {ToolStatus::Kind::done, "it was done"};
    return {ToolStatus::Kind::absent, ""};
  }

  World& world_;
  SimLoop& process_;
  ToolSpec spec_;
  EffectClass true_class_;
};

}  // namespace

std::vector<std::shared_ptr<Tool>> make_tools(World& world, SimLoop& process) {
  struct Kind {
    const char* name;
    EffectClass effect;
    OnDoubt on_doubt;
  };
  static constexpr Kind kKinds[] = {
      {"look", EffectClass::pure, OnDoubt::wait},
      {"put", EffectClass::idempotent, OnDoubt::wait},
      {"book", EffectClass::reconcilable, OnDoubt::wait},
      {"pay", EffectClass::once, OnDoubt::wait},
      {"mail", EffectClass::once, OnDoubt::tell_model},
      {kAnsweringTool, EffectClass::idempotent, OnDoubt::wait},
  };
  std::vector<std::shared_ptr<Tool>> tools;
  for (const Kind& kind : kKinds) {
    ToolSpec spec;
    spec.name = kind.name;
    spec.effect = kind.effect;
    spec.on_doubt = kind.on_doubt;
    if (spec.name == kAnsweringTool) spec.ends_turn = EndsTurn::yes;
    spec.input_schema = R"({"type":"object"})";
    tools.push_back(std::make_shared<SimTool>(world, process, spec));
  }
  return tools;
}

}  // namespace pawl::sim
