#include "pawl/run/conversation_memory.h"

#include <algorithm>
#include <utility>

namespace pawl {

ConversationMemory::Part::Part(ConversationMemory& memory, Keeper& keeper)
    : memory_(memory), keeper_(keeper) {
  place_ = memory_.parts_.insert(memory_.parts_.end(), this);
}

ConversationMemory::Part::~Part() {
  memory_.bytes_ -= bytes_;
  memory_.parts_.erase(place_);
}

void ConversationMemory::Part::use(std::uint64_t bytes) {
  std::list<Part*>& parts = memory_.parts_;
  parts.splice(parts.end(), parts, place_);
  memory_.bytes_ -= std::exchange(bytes_, bytes);
  memory_.bytes_ += bytes;
  const bool too_much = bytes > std::min(kKeptBytesOfARunMax, memory_.bytes_max_);
  const auto drop = [&](Part& part) {
    memory_.bytes_ -= std::exchange(part.bytes_, 0);
    part.keeper_.let_go();
  };
  if (too_much) return drop(*this);
  // Those in front have nothing left: they come last again with their next use.
  for (auto one = parts.begin(); memory_.bytes_ > memory_.bytes_max_ && *one != this; ++one) {
    if ((*one)->bytes_ > 0) drop(**one);
  }
}

}  // namespace pawl
