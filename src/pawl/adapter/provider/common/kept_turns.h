// A conversation as far as it has been written for a provider, kept from one request to the next:
// what is new is read, composed and written, and the body of a request holds the same bytes as
// those before it.
//
// What is written for good is what no message can change that comes later:
//  - An assistant's message and its results are composed for good once the next assistant's message
//    is there. Until then results may come, and ids of calls depend on them.
//  - A turn is final once a turn of the other role stands behind it. What an assistant's message
//    leaves may be nothing, for a provider that did not write it: then the user's turns around it
//    are one, and neither of them is final.
//  - The last assistant's turn and what follows it are never final: what is last is written
//    differently, and dialects look at it.
// All else, the tail, is composed for each request. Requests are the same, byte by byte, as if the
// conversation were written anew.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/provider/common/growing_text.h"
#include "pawl/adapter/provider/common/turn_style.h"
#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// The end of a user's turn in what is written, for those who put a mark there.
struct TurnEnd {
  std::size_t end = 0;    // in what is written
  std::size_t parts = 0;  // of the turn
  std::string last_text;  // of its last part, if that is text and not the only one
};

TurnEnd end_of(const Turn& turn, std::size_t end);

// A text that one request has within what is written.
struct Insertion {
  std::size_t at = 0;
  std::string text;
};

class KeptTurns final : public KeptWork {
 public:
  // `first`: messages before it are known to a session, and nothing is written of them.
  KeptTurns(std::shared_ptr<const WireOptions> options, std::unique_ptr<const TurnStyle> style,
            std::size_t first);

  // Whether turns written with these options are those kept here.
  bool suits(const WireOptions& options) const;
  // Whether requests can begin with this message; others need a conversation of their own.
  bool begins_with(std::size_t first) const;

  // How many messages have been taken.
  std::size_t taken() const { return closed_ + open_.size(); }
  // The messages behind those. After an error nothing more may be asked of it.
  Status take(std::vector<Message> messages);

  // Composes the end of one request, which stays until the next is composed. See begins_with().
  Status compose(const PhaseExecutionRequest& request, std::size_t first);
  // The turns at the end of the request: from the last assistant's on, at least.
  const std::vector<Turn>& tail() const { return tail_.turns; }
  // Names of tools that were ever called in the conversation.
  std::set<std::string> called_tools() const;

  // Writes the request's turns. invalid_argument: one cannot be sent.
  Status write();
  // Of what was written: the user's turns that are last, up to two, in their order.
  const std::vector<TurnEnd>& last_user_turns() const { return ends_; }
  std::size_t written_bytes() const;
  // Appends it. Insertions stand in the order of their places.
  void append_to(HttpBody& body, const std::vector<Insertion>& insertions) const;

  std::size_t bytes() const override;

 private:
  struct TurnText {
    TurnState before;
    TurnState after;
    std::string text;
  };
  // The end of a request. Its texts are used again: most of its turns are those of the next one.
  struct Tail {
    std::vector<Turn> turns;
    std::vector<TurnText> texts;
    std::uint64_t number = 0;  // of the first turn, in the conversation
  };
  // The turns of the open stretch as it was with so many messages.
  struct Composed {
    std::size_t messages = 0;
    std::vector<Turn> turns;
    WireCallIds ids;
  };

  Stretch open_stretch() const { return {open_, closed_}; }
  Status compose_open();
  Status close_stretch();
  bool is_silent(const Turn& turn) const;
  void drop_silent(std::vector<Turn>& turns, std::size_t end) const;
  void settle();
  void settle_before(std::size_t end);
  void settle_before_open();
  void write_final(Turn turn);
  Result<TurnText> text_of(const Turn& turn, std::uint64_t number, const TurnState& before);
  void retire_tail();

  const std::shared_ptr<const WireOptions> options_;
  const std::unique_ptr<const TurnStyle> style_;  // may refer to the options
  const ComposeRules rules_;

  std::size_t closed_ = 0;     // messages of closed stretches, which are not kept
  std::vector<Message> open_;  // the last stretch
  std::optional<Composed> composed_;
  WireCallIds ids_;            // of closed stretches
  std::vector<Turn> pending_;  // of closed stretches: those that are not final

  GrowingText text_;  // of final turns
  TurnState state_;
  std::uint64_t final_turns_ = 0;
  std::set<std::string> tools_;
  std::vector<TurnEnd> user_ends_;
  Status fault_ = ok();  // why a final turn cannot be sent

  enum class Beginning : std::uint8_t { kept, session } beginning_ = Beginning::kept;
  Tail tail_;     // of the request that was composed last
  Tail earlier_;  // of the one before
  std::string tail_text_;
  std::vector<TurnEnd> ends_;
};

// Of which message on a request tells its provider.
std::size_t first_message(const PhaseExecutionRequest& request, const WireOptions& options);

// invalid_argument: there is a quirk that the dialect does not know.
Result<std::unique_ptr<KeptTurns>> make_kept_turns(const Dialect& dialect,
                                                   const WireOptions& options, std::size_t first);

}  // namespace pawl::provider
