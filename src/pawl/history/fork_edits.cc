#include "pawl/history/fork_edits.h"

#include <algorithm>

namespace pawl {

Result<ForkEdits> ForkEdits::make(std::vector<ForkEdit> edits) {
  if (edits.size() > kEditsMax) {
    return Error{ErrorCode::invalid_argument,
                 "there may be " + std::to_string(kEditsMax) + " edits"};
  }
  std::set<std::string> targets;
  for (const ForkEdit& edit : edits) {
    if (!targets.insert(edit.target).second) {
      return Error{ErrorCode::invalid_argument, "'" + edit.target + "' is edited twice"};
    }
  }
  ForkEdits made;
  made.edits_ = std::move(edits);
  return made;
}

void ForkEdits::apply(const RunState& before, Event& event, Ingress& ingress) {
  std::visit([&](auto& fact) { change(before, fact, ingress); }, event);
}

Status ForkEdits::check_all_met() const {
  for (const ForkEdit& edit : edits_) {
    if (std::find(met_.begin(), met_.end(), edit.target) != met_.end()) continue;
    std::string list;
    for (const std::string& target : targets_) list += (list.empty() ? "" : ", ") + target;
    if (targets_.size() == kEditTargetsListed) list += ", …";
    return Error{ErrorCode::invalid_argument,
                 "there is no '" + edit.target + "' to edit before the fork; there is: " + list};
  }
  return ok();
}

const std::string* ForkEdits::wanted(const std::string& target) {
  const bool known = std::find(targets_.begin(), targets_.end(), target) != targets_.end();
  if (!known && targets_.size() < kEditTargetsListed) targets_.push_back(target);
  const auto found = std::find_if(edits_.begin(), edits_.end(),
                                  [&](const ForkEdit& edit) { return edit.target == target; });
  if (found == edits_.end()) return nullptr;
  if (std::find(met_.begin(), met_.end(), target) == met_.end()) met_.push_back(target);
  return &found->text;
}

void ForkEdits::change(const RunState&, RunStarted& event, Ingress& ingress) {
  if (const std::string* text = wanted("input")) event.input = ingress.keep(*text);
  for (std::size_t i = 0; i < event.history.size(); ++i) {
    const std::string* text = wanted("history" + std::to_string(i + 1));
    if (text != nullptr) event.history[i].text = ingress.keep(*text);
  }
}

// All that was said becomes one text, in the place of the first.
bool ForkEdits::change_text(std::uint64_t step, std::vector<Block>& blocks, Ingress& ingress) {
  const auto is_text = [](const Block& block) { return std::holds_alternative<TextBlock>(block); };
  const auto first = std::find_if(blocks.begin(), blocks.end(), is_text);
  if (first == blocks.end()) return false;
  const std::string* text = wanted("step" + std::to_string(step) + ".text");
  if (text == nullptr) return false;
  std::get<TextBlock>(*first).text = ingress.keep(*text);
  blocks.erase(std::remove_if(first + 1, blocks.end(), is_text), blocks.end());
  return true;
}

void ForkEdits::change(const RunState& before, ModelReplied& event, Ingress& ingress) {
  const Instance* instance = find_instance(before, event.instance);
  if (instance == nullptr) return;
  if (change_text(instance->open_step, event.blocks, ingress)) event.origin = Origin::person;
}

void ForkEdits::change(const RunState& before, ExternalTurnPushed& event, Ingress& ingress) {
  change_text(before.tally.steps + 1, event.blocks, ingress);
}

void ForkEdits::change(const RunState&, ToolFinished& event, Ingress& ingress) {
  const std::string* text = wanted(to_string(event.call));
  if (text == nullptr) return;
  event.content = ingress.keep(*text);
  event.content_length = text->size();
  event.origin = Origin::person;
}

void ForkEdits::change(const RunState&, ToolStatusLearned& event, Ingress& ingress) {
  if (event.answer != StatusAnswer::done) return;
  if (const std::string* text = wanted(to_string(event.call))) event.content = ingress.keep(*text);
}

void ForkEdits::change(const RunState&, DoubtResolved& event, Ingress& ingress) {
  if (event.verdict != DoubtVerdict::happened) return;
  if (const std::string* text = wanted(to_string(event.call))) event.result = ingress.keep(*text);
}

void ForkEdits::change(const RunState&, MessageReceived& event, Ingress& ingress) {
  const std::string* text = wanted("message" + std::to_string(++messages_));
  if (text != nullptr) event.text = ingress.keep(*text);
}

}  // namespace pawl
