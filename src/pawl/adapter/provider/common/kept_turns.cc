#include "pawl/adapter/provider/common/kept_turns.h"

#include <algorithm>
#include <utility>

namespace pawl::provider {
namespace {

constexpr std::size_t kUserEndsKept = 2;
constexpr std::size_t kBytesOfAPart = sizeof(Part);

std::size_t bytes_of(const Part& part) {
  return std::visit(
      [](const auto& one) {
        std::size_t bytes = kBytesOfAPart;
        if constexpr (requires { one.text; }) bytes += one.text.size();
        if constexpr (requires { one.bytes; }) bytes += one.bytes.size();
        if constexpr (requires { one.json; }) bytes += one.json.size();
        if constexpr (requires { one.input; }) bytes += one.input.size();
        if constexpr (requires { one.signature; }) bytes += one.signature.size();
        return bytes;
      },
      part);
}

std::size_t bytes_of(const std::vector<Turn>& turns) {
  std::size_t bytes = 0;
  for (const Turn& turn : turns) {
    for (const Part& part : turn.parts) bytes += bytes_of(part);
  }
  return bytes;
}

bool same_model(const ExecutorModelDescriptor& a, const ExecutorModelDescriptor& b) {
  return a.id == b.id && a.thinking == b.thinking && a.images == b.images;
}

void add_names(std::set<std::string>& names, const Turn& turn) {
  for (const Part& part : turn.parts) {
    if (const auto* call = std::get_if<CallPart>(&part)) names.insert(call->tool);
  }
}

void keep_last(std::vector<TurnEnd>& ends, TurnEnd end) {
  if (ends.size() == kUserEndsKept) ends.erase(ends.begin());
  ends.push_back(std::move(end));
}

}  // namespace

TurnEnd end_of(const Turn& turn, std::size_t end) {
  TurnEnd made{end, turn.parts.size(), {}};
  const auto* text = std::get_if<TextPart>(&turn.parts.back());
  if (text != nullptr && made.parts > 1) made.last_text = text->text;
  return made;
}

KeptTurns::KeptTurns(std::shared_ptr<const WireOptions> options,
                     std::unique_ptr<const TurnStyle> style, std::size_t first)
    : options_(std::move(options)), style_(std::move(style)), rules_{options_->name + "/", first} {}

bool KeptTurns::suits(const WireOptions& options) const {
  return options_->name == options.name && options_->base_url == options.base_url &&
         options_->quirks == options.quirks && same_model(options_->model, options.model);
}

bool KeptTurns::begins_with(std::size_t first) const {
  return first == rules_.first || first > closed_;
}

// --- Messages -----------------------------------------------------------------------------------

Status KeptTurns::take(std::vector<Message> messages) {
  retire_tail();
  for (Message& message : messages) {
    if (message.role == Role::assistant && !open_.empty()) PAWL_CHECK(close_stretch());
    open_.push_back(std::move(message));
  }
  return ok();
}

Status KeptTurns::compose_open() {
  if (composed_ && composed_->messages == open_.size()) return ok();
  composed_.reset();
  WireCallIds ids(&ids_);
  PAWL_TRY(std::vector<Turn> turns, turns_of(open_stretch(), rules_, ids));
  composed_ = Composed{open_.size(), std::move(turns), std::move(ids)};
  return ok();
}

Status KeptTurns::close_stretch() {
  PAWL_CHECK(compose_open());
  join_turns(pending_, std::move(composed_->turns));
  ids_.add(std::move(composed_->ids));
  composed_.reset();
  closed_ += open_.size();
  open_.clear();
  if (final_turns_ == 0) begin_with_user(pending_);
  settle();
  return ok();
}

// --- Final turns --------------------------------------------------------------------------------

bool KeptTurns::is_silent(const Turn& turn) const {
  return turn.role == Role::assistant && !style_->counts(turn);
}

// Those before `end`: the user's around them become one.
void KeptTurns::drop_silent(std::vector<Turn>& turns, std::size_t end) const {
  const auto last = turns.begin() + static_cast<std::ptrdiff_t>(end);
  if (std::none_of(turns.begin(), last, [this](const Turn& one) { return is_silent(one); })) return;
  std::vector<Turn> left;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (i < end && is_silent(turns[i])) continue;
    std::vector<Turn> one;
    one.push_back(std::move(turns[i]));
    join_turns(left, std::move(one));
  }
  turns = std::move(left);
}

// The last turn may grow, and be heard then.
void KeptTurns::settle() {
  if (pending_.empty()) return;
  drop_silent(pending_, pending_.size() - 1);
  for (std::size_t i = pending_.size(); i > 0; --i) {
    const Turn& turn = pending_[i - 1];
    if (turn.role == Role::assistant && !is_silent(turn)) return settle_before(i - 1);
  }
}

void KeptTurns::settle_before(std::size_t end) {
  for (std::size_t i = 0; i < end; ++i) write_final(std::move(pending_[i]));
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(end));
}

void KeptTurns::write_final(Turn turn) {
  style_->fit(turn, TurnStyle::Place::inside);
  add_names(tools_, turn);
  const std::uint64_t number = final_turns_++;
  if (!fault_) return;
  auto text = text_of(turn, number, state_);
  if (!text) {
    fault_ = text.error();
    return;
  }
  if (text_.size() > 0 && !text->text.empty()) text_.append(",");
  text_.append(text->text);
  state_ = text->after;
  if (turn.role == Role::user) keep_last(user_ends_, end_of(turn, text_.size()));
}

// Out of the last request, if it had the same turn at the same place.
Result<KeptTurns::TurnText> KeptTurns::text_of(const Turn& turn, std::uint64_t number,
                                               const TurnState& before) {
  const std::uint64_t place = number - earlier_.number;
  if (number >= earlier_.number && place < earlier_.texts.size()) {
    TurnText& text = earlier_.texts[place];
    if (text.before == before && earlier_.turns[place] == turn) {
      earlier_.turns[place].parts.clear();  // It is no turn any more: its text is gone.
      return std::move(text);
    }
  }
  TurnText text{before, before, {}};
  JsonWriter json;
  json.begin_array();
  PAWL_CHECK(style_->write(json, turn, text.after));
  text.text = json.end_array().take();
  text.text.pop_back();
  text.text.erase(0, 1);
  return text;
}

// --- One request --------------------------------------------------------------------------------

void KeptTurns::retire_tail() {
  if (!tail_.turns.empty()) earlier_ = std::exchange(tail_, {});
}

Status KeptTurns::compose(const PhaseExecutionRequest& request, std::size_t first) {
  PAWL_ASSERT(begins_with(first));
  retire_tail();
  beginning_ = first == rules_.first ? Beginning::kept : Beginning::session;
  std::vector<Turn> turns;
  if (beginning_ == Beginning::kept) {
    PAWL_CHECK(compose_open());
    settle_before_open();
    turns = pending_;
    join_turns(turns, composed_->turns);
  } else {
    WireCallIds ids(&ids_);
    PAWL_TRY(turns, turns_of(open_stretch(), {rules_.own_prefix, first}, ids));
  }
  if (open_.empty() || !is_paused(turns, open_.back())) end_with_user(turns, request.note);
  if (beginning_ == Beginning::session || final_turns_ == 0) begin_with_user(turns);
  drop_silent(turns, turns.size());
  for (Turn& turn : turns) {
    using Place = TurnStyle::Place;
    style_->fit(turn, &turn == &turns.back() ? Place::last : Place::inside);
  }
  tail_.turns = std::move(turns);
  tail_.number = final_turns_;
  return ok();
}

// The open stretch's turn stays where it is, whatever follows: a user's turn before it is final.
void KeptTurns::settle_before_open() {
  const std::vector<Turn>& open = composed_->turns;
  if (pending_.empty() || open.empty()) return;
  const bool spoken = open.front().role == Role::assistant && !is_silent(open.front());
  if (spoken && pending_.back().role == Role::user) settle_before(pending_.size());
}

Status KeptTurns::write() {
  const bool kept = beginning_ == Beginning::kept;
  if (kept) PAWL_CHECK(fault_);
  const std::size_t before = kept ? text_.size() : 0;
  TurnState state = kept ? state_ : TurnState{};
  tail_.texts.clear();
  tail_text_.clear();
  ends_ = kept ? user_ends_ : std::vector<TurnEnd>();
  for (std::size_t i = 0; i < tail_.turns.size(); ++i) {
    const Turn& turn = tail_.turns[i];
    PAWL_TRY(TurnText text, text_of(turn, tail_.number + i, state));
    if (before + tail_text_.size() > 0 && !text.text.empty()) tail_text_ += ',';
    tail_text_ += text.text;
    state = text.after;
    if (turn.role == Role::user) keep_last(ends_, end_of(turn, before + tail_text_.size()));
    tail_.texts.push_back(std::move(text));
  }
  return ok();
}

void KeptTurns::append_to(HttpBody& body, const std::vector<Insertion>& insertions) const {
  const std::size_t kept = beginning_ == Beginning::kept ? text_.size() : 0;
  std::size_t at = 0;
  std::string tail;
  for (const Insertion& one : insertions) {
    if (one.at < kept) {
      text_.append_to(body, at, one.at);
      body.append(one.text);
    } else {
      if (at < kept) text_.append_to(body, std::exchange(at, kept), kept);
      tail.append(tail_text_, at - kept, one.at - at).append(one.text);
    }
    at = one.at;
  }
  if (at < kept) text_.append_to(body, std::exchange(at, kept), kept);
  body.append(tail.append(tail_text_, at - kept));
}

std::size_t KeptTurns::written_bytes() const {
  return (beginning_ == Beginning::kept ? text_.size() : 0) + tail_text_.size();
}

std::set<std::string> KeptTurns::called_tools() const {
  std::set<std::string> names = tools_;
  for (const Turn& turn : tail_.turns) add_names(names, turn);
  return names;
}

std::size_t KeptTurns::bytes() const {
  std::size_t bytes = sizeof(*this) + text_.bytes() + ids_.bytes() + tail_text_.size();
  bytes += bytes_of(pending_) + bytes_of(tail_.turns) + bytes_of(earlier_.turns);
  if (composed_) bytes += bytes_of(composed_->turns);
  for (const TurnText& one : tail_.texts) bytes += one.text.size();
  for (const TurnText& one : earlier_.texts) bytes += one.text.size();
  for (const Message& one : open_) bytes += bytes_of(one);
  return bytes;
}

// --- Dialects -----------------------------------------------------------------------------------

std::size_t first_message(const PhaseExecutionRequest& request, const WireOptions& options) {
  const bool resumes = options.resume == WireOptions::Resume::session && !request.session.empty();
  return resumes ? request.session_length : 0;
}

Result<std::unique_ptr<KeptTurns>> make_kept_turns(const Dialect& dialect,
                                                   const WireOptions& options, std::size_t first) {
  auto own = std::make_shared<const WireOptions>(options);
  PAWL_TRY(auto style, dialect.turn_style(*own));
  return std::make_unique<KeptTurns>(std::move(own), std::move(style), first);
}

Result<WireRequest> Dialect::encode(const PhaseExecutionRequest& request,
                                    std::vector<Message> messages,
                                    const WireOptions& options) const {
  const std::size_t first = first_message(request, options);
  PAWL_TRY(const auto turns, make_kept_turns(*this, options, first));
  PAWL_CHECK(turns->take(std::move(messages)));
  PAWL_CHECK(turns->compose(request, first));
  return encode(request, *turns, options);
}

}  // namespace pawl::provider
