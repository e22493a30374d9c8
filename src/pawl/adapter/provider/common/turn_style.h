// What the dialects say about turns: how one is written. What is kept between requests, and what of
// it is used again, is the same for all of them (kept_turns.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "pawl/adapter/provider/common/conversation.h"
#include "pawl/json.h"

namespace pawl::provider {

// Attachments of a request.
struct MediaTotals {
  std::size_t count = 0;
  std::size_t bytes = 0;
  friend bool operator==(const MediaTotals&, const MediaTotals&) = default;
};

// What was written before a turn, as far as the turn depends on it.
struct TurnState {
  MediaTotals media;
  std::uint64_t calls = 0;         // before the last turn of an assistant's that has some
  std::uint64_t latest_calls = 0;  // of that turn: what the user's turn behind it answers

  friend bool operator==(const TurnState&, const TurnState&) = default;
};

class TurnStyle {
 public:
  virtual ~TurnStyle() = default;

  // Whether an assistant's turn is one for this dialect; if not, the user's turns around it become
  // one. A turn that is one stays one when parts are added.
  virtual bool counts(const Turn&) const { return true; }
  // Makes the turn valid by itself. The last one of a request may end before its time.
  enum class Place : std::uint8_t { inside, last };
  virtual void fit(Turn&, Place) const {}
  // Writes the turn as elements of a list: one, several or none. What is written depends on nothing
  // but the turn and `state`, which is brought up to the turn's end.
  // invalid_argument: it cannot be sent.
  virtual Status write(JsonWriter& out, const Turn& turn, TurnState& state) const = 0;
};

}  // namespace pawl::provider
