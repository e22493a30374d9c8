// The sections `flow` and `gate`.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "pawl/charter/charter_limits.h"
#include "pawl/charter/machine/json_pointer.h"
#include "pawl/charter/machine/machine_reading.h"
#include "pawl/json.h"
#include "pawl/kernel/phase_template.h"

namespace pawl {
namespace {

constexpr std::int64_t kMapAtATimeMax = 100'000;
constexpr std::int64_t kBlocksMax = 1'000;
constexpr std::size_t kPromptBytesMax = 1U << 20U;
constexpr std::size_t kQuestionBytesMax = 64U << 10U;
constexpr std::size_t kEventNameBytesMax = 128;
constexpr std::size_t kAfterMax = kPhasesMax;
constexpr std::size_t kWhenMax = 64;

class PhaseReader {
 public:
  PhaseReader(const Node& node, MachineReading& reading, std::string where)
      : node_(node),
        reading_(reading),
        where_(std::move(where)),
        reader_(node, reading.faults, where_) {}

  PhaseSpec read() {
    take_work();
    take_order();
    take_text();
    if (const Node* map = reader_.take("map")) take_map(*map);
    take_outcome();
    reader_.finish();
    check_ways();
    return std::move(phase_);
  }

 private:
  void take_work() {
    if (reader_.require_string("name", phase_.name)) {
      check_charter_name(reader_, node_.find("name")->mark(), "name of a phase", phase_.name);
    }
    if (const Node* node = reader_.take("node")) {
      if (take_known(reader_, *node, "node", reading_.nodes, phase_.node)) check_state(*node);
    }
    if (const Node* agent = reader_.take("agent")) {
      take_known(reader_, *agent, "agent", reading_.agents, phase_.agent);
    }
    if (reader_.take_string("checkpoint", phase_.checkpoint)) {
      check_bytes(reader_, node_.find("checkpoint"), "checkpoint", kQuestionBytesMax);
    }
    if (const Node* await = reader_.take("await")) take_await(*await);
  }

  void check_state(const Node& at) {
    const auto facts = reading_.facts.find(phase_.node);
    if (facts == reading_.facts.end() || facts->second.state.begins_alone()) return;
    reader_.fault(at.mark(),
                  "the node " + quoted(phase_.node) + " needs a state, and a phase gives it none",
                  "give it an initial: that fits");
  }

  void take_await(const Node& node) {
    AwaitSpec await;
    MapReader reader(node, reading_.faults, where_ + ".await");
    if (reader.require_string("event", await.event) &&
        (await.event.empty() || await.event.size() > kEventNameBytesMax)) {
      reader.fault(node.find("event")->mark(),
                   "\"event\" must have 1 to " + std::to_string(kEventNameBytesMax) + " bytes");
    }
    bool batch = false;
    if (reader.take_bool("batch", batch) && batch) await.batch = Batch::all;
    reader.take_duration_ms("timeout", {1, kLimitTimeMaxMs}, await.timeout_ms);
    reader.finish();
    phase_.await = std::move(await);
  }

  void take_order() {
    std::vector<std::string> after;
    const Node* list = node_.find("after");
    if (reader_.take_strings("after", kAfterMax, after)) {
      NameSet listed;
      for (std::size_t i = 0; i < after.size(); ++i) {
        const Node& item = list->kind() == Node::Kind::list ? list->items()[i] : *list;
        if (listed.contains(after[i])) {
          reader_.fault(item.mark(), "the phase " + quoted(after[i]) + " is listed twice");
        } else if (take_known(reader_, item, "phase", reading_.phases,
                              phase_.after.emplace_back())) {
          listed.add(after[i]);
        } else {
          phase_.after.pop_back();
        }
      }
    }
    if (const Node* when = reader_.take_map("when")) take_when(*when);
  }

  void take_when(const Node& when) {
    if (when.members().size() > kWhenMax) {
      return reader_.fault(when.mark(), "\"when\" may have " + std::to_string(kWhenMax) + " keys");
    }
    for (const Member& member : when.members()) {
      check_pointer(member.key_mark, "when", member.key);
      phase_.when.push_back({member.key, to_json(member.value)});
    }
  }

  // Into { input, vars, phases }.
  void check_pointer(Mark mark, std::string_view key, const std::string& pointer) {
    const std::string why = pointer_fault(pointer);
    if (!why.empty()) {
      return reader_.fault(mark,
                           quoted(key) + ": " + quoted(pointer) + " is no JSON Pointer: " + why);
    }
    const std::vector<std::string> steps = pointer_steps(pointer);
    const std::string first = steps.empty() ? "" : steps.front();
    if (first == "input" || first == "vars") return;
    if (first != "phases") {
      return reader_.fault(mark, quoted(key) + ": " + quoted(pointer) + " leads nowhere",
                           "begin with /input, /vars or /phases/NAME/output");
    }
    if (steps.size() < 2) return;
    if (!reading_.phases.contains(steps[1])) {
      return reader_.fault(mark, quoted(key) + ": there is no phase " + quoted(steps[1]),
                           reading_.phases.remedy(steps[1]));
    }
    used_.emplace_back(mark, steps[1]);
    if (steps.size() < 3 || steps[2] == "output" || steps[2] == "status") return;
    reader_.fault(mark, quoted(key) + ": a phase has status and output, and no " + quoted(steps[2]),
                  "for example /phases/" + steps[1] + "/output");
  }

  void take_text() {
    const Node* prompt = node_.find("prompt");
    if (!reader_.take_string("prompt", phase_.prompt)) return;
    check_bytes(reader_, prompt, "prompt", kPromptBytesMax);
    for (const TemplateUse& use : template_uses(phase_.prompt)) check_use(prompt->mark(), use);
  }

  void check_use(Mark mark, const TemplateUse& use) {
    switch (use.kind) {
      case TemplateUse::Kind::input:
        return;
      case TemplateUse::Kind::item:
        if (node_.find("map") != nullptr) return;
        return reader_.fault(mark, "the prompt uses {{item}}, and the phase has no map",
                             "add map:");
      case TemplateUse::Kind::variable:
        if (reading_.charter.variables.contains(use.name)) return;
        return reader_.fault(
            mark, "the prompt uses the variable " + quoted(use.name) + ", which is not declared",
            "add vars: { " + use.name + ": \"\" }");
      case TemplateUse::Kind::output:
        used_.emplace_back(mark, use.name);
        if (reading_.phases.contains(use.name)) return;
        return reader_.fault(
            mark, "the prompt uses the phase " + quoted(use.name) + ", which there is not",
            reading_.phases.remedy(use.name));
      case TemplateUse::Kind::wrong:
        return reader_.fault(mark, "the prompt has {{" + use.name + "}}, which stands for nothing",
                             "write {{input}}, {{vars.x}}, {{phases.NAME.output}}, "
                             "{{phases.NAME.output/POINTER}} or {{item}}");
    }
  }

  void take_map(const Node& node) {
    MapSpec map;
    MapReader reader(node, reading_.faults, where_ + ".map");
    if (reader.require_string("over", map.over)) {
      check_pointer(node.find("over")->mark(), "over", map.over);
    }
    reader.take_int("max", {1, kMapAtATimeMax}, map.max);
    if (reader.take_string("per_key", map.per_key)) {
      const std::string why = pointer_fault(map.per_key);
      if (!why.empty()) {
        reader.fault(node.find("per_key")->mark(),
                     "\"per_key\": " + quoted(map.per_key) + " is no JSON Pointer: " + why,
                     "for example /dir");
      }
    }
    reader.take_int("per_key_max", {1, kMapAtATimeMax}, map.per_key_max);
    reader.take_int("tolerate", {0, std::int64_t{kMapItemsMax}}, map.tolerate);
    reader.finish();
    phase_.map = std::move(map);
  }

  void take_outcome() {
    bool optional = false;
    if (reader_.take_bool("optional", optional) && optional) phase_.need = PhaseNeed::optional;
    if (const Node* fallback = reader_.take("fallback")) {
      phase_.fallback = to_json(*fallback);
      if (phase_.need == PhaseNeed::required) {
        reader_.fault(fallback->mark(), "\"fallback\" is for a phase that may fail",
                      "add optional: true, or remove it");
      }
    }
    const Node* limits = reader_.take("limits");
    if (limits == nullptr) return;
    MapReader reader(*limits, reading_.faults, where_ + ".limits");
    reader.take_int("steps", {1, kLimitStepsMax}, phase_.steps);
    reader.finish();
  }

  void check_ways() {
    if (node_.kind() != Node::Kind::map) return;
    static constexpr std::array<std::string_view, 4> kWays = {"node", "agent", "checkpoint",
                                                              "await"};
    const auto given = std::ranges::count_if(
        kWays, [this](std::string_view key) { return node_.find(key) != nullptr; });
    if (given != 1) {
      return reader_.fault(node_.mark(), "a phase has one of node, agent, checkpoint and await",
                           given == 0 ? "add node:" : "make a phase of each");
    }
    if (node_.find("node") != nullptr || node_.find("agent") != nullptr) return;
    for (const std::string_view key : {"prompt", "map", "limits"}) {
      const Node* value = node_.find(key);
      if (value == nullptr) continue;
      reader_.fault(value->mark(), quoted(key) + " is for a phase of a node or an agent",
                    "remove it");
    }
  }

 public:
  // Other phases that it reads from, and where.
  const std::vector<std::pair<Mark, std::string>>& used() const { return used_; }

 private:
  const Node& node_;
  MachineReading& reading_;
  std::string where_;
  MapReader reader_;
  PhaseSpec phase_;
  std::vector<std::pair<Mark, std::string>> used_;
};

// The order of the phases: circles in it, and what is read before it is there.
class PhaseOrder {
 public:
  PhaseOrder(const std::vector<PhaseSpec>& phases, MachineReading& reading)
      : phases_(phases), reading_(reading), left_(phases.size(), true) {
    for (std::size_t i = 0; i < phases.size(); ++i) index_.emplace(phases[i].name, i);
    take_away();
  }

  // Every circle once. What waits for nothing has been taken away: whatever is left waits for
  // itself, or for a circle.
  void report_circles(const std::vector<Mark>& marks) {
    std::vector<std::uint8_t> seen(phases_.size(), 0);  // the walk that came by, from 1
    std::uint8_t circles = 0;
    for (std::size_t i = 0; i < phases_.size() && circles < kCirclesMax; ++i) {
      if (!left_[i] || seen[i] != 0) continue;
      ++circles;
      std::vector<std::size_t> way;
      std::size_t at = i;
      while (seen[at] == 0) {
        seen[at] = circles;
        way.push_back(at);
        at = waited_for(at);
      }
      if (seen[at] == circles) report(way, at, marks);
    }
  }

 private:
  static constexpr std::uint8_t kCirclesMax = 20;

  void take_away() {
    std::vector<std::size_t> waits(phases_.size(), 0);
    std::vector<std::vector<std::size_t>> followers(phases_.size());
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < phases_.size(); ++i) {
      waits[i] = phases_[i].after.size();
      for (const std::string& name : phases_[i].after) {
        const auto before = index_.find(name);
        if (before != index_.end()) followers[before->second].push_back(i);
      }
      if (waits[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const std::size_t done = ready.back();
      ready.pop_back();
      left_[done] = false;
      for (const std::size_t next : followers[done]) {
        if (--waits[next] == 0) ready.push_back(next);
      }
    }
  }

  std::size_t waited_for(std::size_t phase) const {
    for (const std::string& name : phases_[phase].after) {
      const auto before = index_.find(name);
      if (before != index_.end() && left_[before->second]) return before->second;
    }
    return phase;
  }

  void report(const std::vector<std::size_t>& way, std::size_t at, const std::vector<Mark>& marks) {
    std::string text;
    const auto from = std::ranges::find(way, at);
    for (auto it = from; it != way.end(); ++it) text += phases_[*it].name + " after ";
    text += phases_[at].name;
    add_fault(reading_.faults, {marks[at], "flow: the phases wait for each other: " + text,
                                "remove one of them from an after:"});
  }

  const std::vector<PhaseSpec>& phases_;
  MachineReading& reading_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<bool> left_;
};

void read_phases(const Node& list, MachineReading& reading) {
  std::vector<PhaseSpec>& phases = reading.machine().phases;
  std::vector<Mark> marks;
  NameSet names;
  for (const Node& node : list.items()) {
    const Node* name = node.find("name");
    PhaseReader reader(node, reading,
                       "phases." + std::string(name == nullptr ? "?" : name->text()));
    phases.push_back(reader.read());
    marks.push_back(node.mark());
    const std::string& own = phases.back().name;
    reading.machine().phase_marks.emplace(own, node.mark());
    if (names.contains(own) && !own.empty()) {
      add_fault(reading.faults,
                {name->mark(), "flow: two phases are called " + quoted(own), "rename one of them"});
    }
    names.add(own);
  }
  PhaseOrder(phases, reading).report_circles(marks);
}

}  // namespace

void read_gate(const Node& gate, std::vector<Fault>& faults, MachineReading& reading) {
  GateSpec spec;
  MapReader reader(gate, faults, "gate");
  reader.take_int("blocks", {1, kBlocksMax}, spec.blocks);
  reader.finish();
  if (reading.machine().gate) {
    reader.fault(gate.mark(), "\"gate\" stands at the top and in the flow", "keep one of them");
  }
  reading.machine().gate = spec;
}

void read_flow(const Node& flow, MachineReading& reading) {
  MapReader reader(flow, reading.faults, "flow");
  if (flow.kind() != Node::Kind::map) return;
  reader.require("phases");
  const Node* phases = reader.take_list("phases");
  if (const Node* gate = reader.take("gate")) read_gate(*gate, reading.faults, reading);
  reader.finish();
  if (phases == nullptr) return;
  if (phases->items().empty() || phases->items().size() > kPhasesMax) {
    return reader.fault(phases->mark(),
                        "\"phases\" must list 1 to " + std::to_string(kPhasesMax) + " phases");
  }
  read_phases(*phases, reading);
}

}  // namespace pawl
