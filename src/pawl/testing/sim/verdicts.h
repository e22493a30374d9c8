// Decides about a group of operations as one transaction does: each one sees what those before it
// did. What is decided here is what the log keeps, so that nothing is decided again when it is
// read.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "pawl/testing/journal_memory/journal_memory.h"
#include "pawl/testing/sim/log.h"
#include "pawl/testing/sim/planted.h"

namespace pawl::sim {

class Verdicts {
 public:
  // `failed`: runs of one process with an append that was refused, while others are under way.
  Verdicts(MemoryJournal& index, PlantedBug bug, std::set<std::string>& failed)
      : index_(index), bug_(bug), failed_(failed) {}

  Status judge(const Op& op);

 private:
  struct View {
    std::uint64_t epoch = 1;
    std::uint64_t length = 0;
    std::string status;
    std::vector<InboxRow> rows;
  };

  View& view(const RunId& run);
  Status check(const Append& append, View& run) const;
  Status judge(const Append& append);
  Status judge(const PostOp& post);
  Status judge(const DropOp& drop);

  MemoryJournal& index_;
  PlantedBug bug_;
  std::set<std::string>& failed_;
  std::map<std::string, View> views_;
};

}  // namespace pawl::sim
