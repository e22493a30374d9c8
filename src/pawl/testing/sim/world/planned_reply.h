// What a simulated model writes when it is asked: by chance, by what it is offered, and so that no
// two texts of a history are the same.
#pragma once

#include <vector>

#include "pawl/testing/sim/world/world.h"

namespace pawl::sim {

struct PlannedReply {
  std::vector<WrittenBlock> blocks;
  ReplyStop stop = ReplyStop::end_turn;
};

PlannedReply planned_reply(World& world, const PhaseExecutionRequest& request);

}  // namespace pawl::sim
