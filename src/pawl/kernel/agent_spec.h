// What a run keeps of the agents that it may start as runs of their own, and of the runs that it
// descends from. Pinned in RunStarted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"
#include "pawl/ids.h"
#include "pawl/kernel/presence.h"
#include "pawl/limits.h"
#include "pawl/words.h"

namespace pawl {

inline constexpr std::size_t kAgentsMax = 256;
inline constexpr std::size_t kLineageMax = 100;

// What becomes of a child whose parent ends before it.
enum class OnParentEnd : std::uint8_t { cancel, detach };

struct AgentSpec {
  std::string name;
  std::string description = {};
  Content charter = {};        // its text, with all it includes
  Digest digest = {};          // of that text
  std::string directory = {};  // relative paths of it start here
  Limits limits = {};          // of the child's own
  OnParentEnd on_parent_end = OnParentEnd::cancel;
  Presence json = Presence::absent;  // its output is JSON

  PAWL_FACT(AgentSpec, "agent_spec",
            PAWL_FIELD(name) PAWL_FIELD(description) PAWL_FIELD(charter) PAWL_FIELD(digest)
                PAWL_FIELD(directory) PAWL_FIELD(limits) PAWL_FIELD(on_parent_end)
                    PAWL_FIELD(json));
};

// Bounds of the tree of runs beneath one.
struct SubagentBounds {
  std::uint32_t depth = 3;         // 1 is a child of the root
  std::uint32_t descendants = 50;  // that ever were
  std::uint32_t at_a_time = 8;

  PAWL_FACT(SubagentBounds, "subagent_bounds",
            PAWL_FIELD(depth) PAWL_FIELD(descendants) PAWL_FIELD(at_a_time));
};

// A run that this one descends from, and the call that started the next of the line.
struct Ancestor {
  RunId run;
  CallId call{};
  std::string agent;
  Digest charter = {};      // of the run
  std::uint32_t depth = 0;  // the deepest level beneath the root that it lets runs start at

  PAWL_FACT(Ancestor, "ancestor",
            PAWL_FIELD(run) PAWL_FIELD(call) PAWL_FIELD(agent) PAWL_FIELD(charter)
                PAWL_FIELD(depth));
};

template <>
inline constexpr std::uint8_t kCount<OnParentEnd> = 2;

std::string_view name(OnParentEnd value);

// nullptr: there is none. Agents are in the order of their names.
const AgentSpec* find_agent(const std::vector<AgentSpec>& agents, std::string_view name);

}  // namespace pawl
