// What the egress guard decided while a call ran becomes part of the call's result, and so of the
// journal: the host, the addresses or the reason, and the verdict.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "pawl/port/egress.h"
#include "pawl/port/tool.h"

namespace pawl {

inline constexpr std::size_t kEgressNotesMax = 20;  // of a call; more are counted
inline constexpr std::size_t kEgressDetailBytesMax = 200;

// Of one agent. On the loop thread.
class EgressNotes {
 public:
  EgressSink sink();  // the notes outlive it
  // Those since the last time, as the members "egress" and "egress_left_out" of a JSON object,
  // which `result` is or becomes. It stays as it is where nothing was decided, and where it would
  // be longer than `bytes_max`.
  std::string joined_to(std::string result, std::size_t bytes_max);

 private:
  std::deque<EgressEvent> notes_;
  std::size_t left_out_ = 0;
};

// `tool`, whose results have the notes. Where calls of a run overlap, whichever ends first has
// them.
std::shared_ptr<Tool> with_egress_notes(std::shared_ptr<Tool> tool,
                                        std::shared_ptr<EgressNotes> notes);

}  // namespace pawl
