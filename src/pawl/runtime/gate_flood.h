// Bounds on what people are asked: so many questions of a run wait at once, and what a person has
// denied is not put before them again and again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/kernel/run.h"
#include "pawl/port/journal.h"
#include "pawl/runtime/run_loader.h"

namespace pawl {

inline constexpr std::size_t kOpenApprovalsMax = 64;
// Exactly the same call, in the same circumstances, is asked about until it was denied so often.
inline constexpr std::size_t kDenialsOfSameMax = 2;

// Of one run and driver. It reads the journal when something asks for the first time, and then only
// what is new.
class QuestionBounds {
 public:
  QuestionBounds(JournalReader& reader, const RunId& run) : walker_(reader, run) {}

  // Judgements of one reply, in order: those that would ask too much deny instead. What cannot be
  // read denies.
  void apply(const RunState& state, std::vector<CallJudgement>& judgements);

 private:
  Status read_on();

  JournalWalker walker_;
  std::map<CallId, std::string> asked_;         // the digest of what was asked about
  std::map<std::string, std::size_t> denials_;  // by that digest
};

}  // namespace pawl
