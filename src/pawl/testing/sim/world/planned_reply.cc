#include "pawl/testing/sim/world/planned_reply.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pawl::sim {
namespace {

constexpr std::uint64_t kWrittenBefore = 100;  // no number is that of kRepeatedInput

const std::vector<std::string>& common_tools() {
  static const std::vector<std::string> kTools = {"look", "put",  "book", "pay",
                                                  "pay",  "mail", "nope"};
  return kTools;
}

class Planner {
 public:
  Planner(World& world, const PhaseExecutionRequest& request) : world_(world), rng_(world.rng) {
    for (const ToolSpec& tool : request.tools) {
      const bool common = std::find(common_tools().begin(), common_tools().end(), tool.name) !=
                              common_tools().end() ||
                          tool.name == kAnsweringTool;
      if (!common) own_.push_back(tool.name);
    }
  }

  PlannedReply plan() {
    PlannedReply plan;
    const std::string text = new_text();
    if (!rng_.one_in(4)) plan.blocks.push_back({text, ""});
    if (is_last()) {
      if (plan.blocks.empty()) plan.blocks.push_back({text, ""});
    } else {
      for (std::uint64_t left = 1 + rng_.below(3); left > 0; --left) {
        plan.blocks.push_back(!own_.empty() && !rng_.one_in(3) ? own_call() : common_call());
      }
      plan.stop = ReplyStop::tool_use;
    }
    if (rng_.one_in(40)) plan.stop = static_cast<ReplyStop>(rng_.below(7));
    return plan;
  }

 private:
  // Those with tools of the machine's come to an end sooner: there are many of them.
  bool is_last() { return own_.empty() ? rng_.below(world_.steps / 2 + 1) == 0 : rng_.one_in(3); }

  std::string new_text() {
    std::string text = "text " + new_mark(world_);
    if (own_.empty() && rng_.one_in(50)) text += std::string(6'000, '-');
    return text;
  }

  WrittenBlock common_call() {
    const std::string input = rng_.one_in(40) ? "[1]" : input_of();
    return {input, rng_.one_in(60) ? kAnsweringTool : rng_.pick(common_tools())};
  }

  std::string input_of() {
    if (rng_.one_in(30)) return std::string(kRepeatedInput);
    return "{\"n\":" + std::to_string(++world_.written + kWrittenBefore) + "}";
  }

  // Now and then one that is not offered here, or that says nothing.
  WrittenBlock own_call() {
    const std::string tool = rng_.one_in(30) ? "cede" : rng_.pick(own_);
    return {rng_.one_in(40) ? "{}" : arguments_of(tool), tool};
  }

  std::string arguments_of(const std::string& tool) {
    const std::string mark = new_mark(world_);
    if (tool == "cede") return R"({"content":"ceded )" + mark + "\"}";
    if (tool == "suspend") return R"({"reason":"r"})";
    if (tool == "update_state") return patch(mark);
    if (tool.starts_with("transition_")) {
      return rng_.one_in(2) ? "{}" : R"({"message":"moved )" + mark + "\"}";
    }
    return R"({"input":"task )" + mark + "\"}";  // spawn_NAME
  }

  std::string patch(const std::string& mark) {
    if (rng_.one_in(8)) return R"({"patch":7})";
    const std::string key(1, static_cast<char>('a' + rng_.below(3)));
    return R"({"patch":{")" + key + "\":" + (rng_.one_in(4) ? "null" : "\"" + mark + "\"") + "}}";
  }

  World& world_;
  Rng& rng_;
  std::vector<std::string> own_;  // tools that the charter has brought, or the machine
};

}  // namespace

std::string new_mark(World& world) {
  return "#" + std::to_string(++world.written) + ";";
}

PlannedReply planned_reply(World& world, const PhaseExecutionRequest& request) {
  return Planner(world, request).plan();
}

}  // namespace pawl::sim
