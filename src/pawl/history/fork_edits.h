// Edits the recorded prefix of a fork, and says which edits are allowed.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "pawl/journal/ingress.h"
#include "pawl/kernel/run.h"

namespace pawl {

inline constexpr std::size_t kEditsMax = 256;
inline constexpr std::size_t kEditTargetsListed = 40;  // in the message about one that is not there

// `target` is input, history1, message1 (the first message that was received), step2.text (what the
// model said in step 2) or c3 (the result of that call).
struct ForkEdit {
  std::string target;
  std::string text;
};

class ForkEdits {
 public:
  // invalid_argument: a target twice, or too many of them.
  static Result<ForkEdits> make(std::vector<ForkEdit> edits);

  // Changes `event`, which comes when the original run is in state `before`, as asked for. Long
  // texts go to `ingress`. What is changed by a person says so, where it can say who made it.
  void apply(const RunState& before, Event& event, Ingress& ingress);

  // After all events were seen: invalid_argument when a target was not met.
  Status check_all_met() const;
  // In the order of the journal.
  const std::vector<std::string>& met() const { return met_; }

 private:
  // The text to put in the place of what `target` names; null when it is to stay.
  const std::string* wanted(const std::string& target);

  void change(const RunState& before, RunStarted& event, Ingress& ingress);
  void change(const RunState& before, ModelReplied& event, Ingress& ingress);
  void change(const RunState& before, ExternalTurnPushed& event, Ingress& ingress);
  void change(const RunState& before, ToolFinished& event, Ingress& ingress);
  void change(const RunState& before, ToolStatusLearned& event, Ingress& ingress);
  void change(const RunState& before, DoubtResolved& event, Ingress& ingress);
  void change(const RunState& before, MessageReceived& event, Ingress& ingress);
  template <class Other>
  void change(const RunState&, Other&, Ingress&) {}
  bool change_text(std::uint64_t step, std::vector<Block>& blocks, Ingress& ingress);

  std::vector<ForkEdit> edits_;
  std::vector<std::string> met_;
  std::vector<std::string> targets_;  // that there are, as far as they are listed
  std::uint64_t messages_ = 0;
};

}  // namespace pawl
