// How many calls may be under way with a provider, and with one of its models, at a time; who waits
// when there are more, and who is next: runs take turns, whatever number of calls each has waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "pawl/loop.h"

namespace pawl {

struct GateBounds {
  std::size_t together_max = 8;        // with the provider
  std::size_t model_together_max = 8;  // with one model
  std::size_t waiting_max = 1024;
};

// Used on the loop thread.
class FairGate {
 public:
  using Ticket = std::uint64_t;
  enum class Entry : std::uint8_t { inside, waiting, refused };
  struct Entered {
    Entry entry = Entry::refused;
    Ticket ticket = 0;  // unless refused
  };

  FairGate(Loop& loop, GateBounds bounds) : loop_(loop), bounds_(bounds) {}

  // Of one that waits `admitted` is called when its turn has come, through the loop.
  Entered enter(const std::string& run, const std::string& model, std::function<void()> admitted);
  // Everybody who entered leaves, once: from inside, or from the queue.
  void leave(Ticket ticket);

  std::size_t inside() const { return inside_.size(); }
  std::size_t waiting() const { return waiting_; }

 private:
  struct Waiting {
    Ticket ticket = 0;
    std::string model;
    std::function<void()> admitted;
  };
  bool has_room(const std::string& model) const;
  void let_in(Ticket ticket, const std::string& model);
  bool leave_inside(Ticket ticket);
  void leave_queue(Ticket ticket);
  // Lets in the next one there is room for. False: nobody.
  bool let_next_in();

  Loop& loop_;
  GateBounds bounds_;
  Ticket last_ticket_ = 0;
  std::map<Ticket, std::string> inside_;  // with the model of each
  std::map<std::string, std::size_t> inside_by_model_;
  std::map<std::string, std::deque<Waiting>> queues_;  // by run; none is empty
  std::deque<std::string> turns_;                      // the runs of queues_, the next one first
  std::size_t waiting_ = 0;
};

}  // namespace pawl
