// What the egress guard decided while a call ran: the host, the addresses or the reason, and the
// verdict. It goes with the call's outcome, and so into the journal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pawl/port/egress.h"
#include "pawl/tool.h"

namespace pawl {

inline constexpr std::size_t kEgressNotesMax = 20;  // of a call; more are counted
inline constexpr std::size_t kEgressDetailBytesMax = 200;
inline constexpr std::size_t kEgressRunsMax = 10'000;  // with notes that no call has taken yet

// Of one call, or of one run between two of its calls. On the loop thread, like all here.
class EgressNotes {
 public:
  void add(const EgressEvent& event);
  EgressReport take();

 private:
  std::vector<EgressEvent> notes_;
  std::uint64_t left_out_ = 0;
};

// Of the sessions of an agent, which reach the guard by one proxy: by the run, which is the client
// of its connections.
class RunEgressNotes {
 public:
  void add(const EgressEvent& event);
  EgressReport take(const RunId& run);
  void forget(const RunId& run) { runs_.erase(run.text); }

 private:
  std::map<std::string, EgressNotes, std::less<>> runs_;
};

// `tool`, whose calls run in sessions: an outcome has what its run's session asked for since the
// one before it. Calls of a session run one after the other; what a background job asks for is told
// with whichever call ends next.
std::shared_ptr<Tool> with_session_egress(std::shared_ptr<Tool> tool,
                                          std::shared_ptr<RunEgressNotes> notes);

// A tool that is made anew for each call, with a guard that tells `sink`.
using MakeGuardedTool = std::function<std::shared_ptr<Tool>(EgressSink sink)>;
std::shared_ptr<Tool> with_call_egress(MakeGuardedTool make);

}  // namespace pawl
