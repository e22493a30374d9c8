#include "pawl/models/fair_gate.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "pawl/result.h"

namespace pawl {

FairGate::Entered FairGate::enter(const std::string& run, const std::string& model,
                                  std::function<void()> admitted) {
  // Whoever waits waits because there is no room for its model: nobody is overtaken here.
  if (has_room(model)) {
    let_in(++last_ticket_, model);
    return {Entry::inside, last_ticket_};
  }
  if (waiting_ >= bounds_.waiting_max) return {};
  const auto [queue, is_new] = queues_.try_emplace(run);
  if (is_new) turns_.push_back(run);
  queue->second.push_back({++last_ticket_, model, std::move(admitted)});
  ++waiting_;
  return {Entry::waiting, last_ticket_};
}

void FairGate::leave(Ticket ticket) {
  if (!leave_inside(ticket)) leave_queue(ticket);
  while (let_next_in()) {
  }
}

bool FairGate::has_room(const std::string& model) const {
  if (inside_.size() >= bounds_.together_max) return false;
  const auto found = inside_by_model_.find(model);
  return found == inside_by_model_.end() || found->second < bounds_.model_together_max;
}

void FairGate::let_in(Ticket ticket, const std::string& model) {
  inside_.emplace(ticket, model);
  ++inside_by_model_[model];
  PAWL_ASSERT(inside_.size() <= bounds_.together_max);
}

bool FairGate::leave_inside(Ticket ticket) {
  const auto found = inside_.find(ticket);
  if (found == inside_.end()) return false;
  const auto by_model = inside_by_model_.find(found->second);
  if (--by_model->second == 0) inside_by_model_.erase(by_model);
  inside_.erase(found);
  return true;
}

void FairGate::leave_queue(Ticket ticket) {
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    if (std::erase_if(queue->second, [ticket](const auto& one) { return one.ticket == ticket; }) ==
        0) {
      continue;
    }
    --waiting_;
    if (queue->second.empty()) {
      std::erase(turns_, queue->first);
      queues_.erase(queue);
    }
    return;
  }
}

bool FairGate::let_next_in() {
  for (auto turn = turns_.begin(); turn != turns_.end(); ++turn) {
    auto& queue = queues_.at(*turn);
    const auto next = std::find_if(queue.begin(), queue.end(),
                                   [this](const Waiting& one) { return has_room(one.model); });
    if (next == queue.end()) continue;
    let_in(next->ticket, next->model);
    loop_.post(std::move(next->admitted));
    queue.erase(next);
    --waiting_;
    const std::string run = std::move(*turn);
    turns_.erase(turn);
    if (queue.empty()) {
      queues_.erase(run);
    } else {
      turns_.push_back(run);
    }
    return true;
  }
  return false;
}

}  // namespace pawl
