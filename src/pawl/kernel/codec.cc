#include "pawl/kernel/codec.h"

#include <array>

#include "pawl/kernel/bytes.h"

namespace pawl {
namespace {

// Bit 0 of the event's flags: a reader that does not know the type may skip the record.
constexpr std::uint64_t kOptionalFlag = 1;

Error damaged(std::string_view what) {
  return Error{ErrorCode::corrupt, std::string(what) + " cannot be decoded"};
}

constexpr std::uint64_t kKnownEvents = std::variant_size_v<Event> - 1;
static_assert(std::is_same_v<std::variant_alternative_t<kKnownEvents, Event>, Unrecognised>);

// A record may hold many of them: see kListRoomPerByte. The smallest that occur more than once have
// two bytes.
static_assert(sizeof(Decision) <= 2 * kListRoomPerByte);
static_assert(sizeof(Effect) <= 2 * kListRoomPerByte);

Status take_version(ByteReader& in) {
  const std::uint64_t version = in.number();
  if (in.failed() || version == 0) return damaged("a record");
  if (version > kRecordVersion) {
    return Error{ErrorCode::invalid_argument, "record version " + std::to_string(version) +
                                                  " is newer than this version of Pawl"};
  }
  return ok();
}

// Fields that an event got at its end after journals of it had been written. The last ones that are
// empty, one byte each, are left out: those journals are read, and made again byte for byte.
std::size_t later_fields(const Event& event) {
  if (std::holds_alternative<CallDecided>(event)) return 3;
  return std::holds_alternative<RunStarted>(event) ? 2 : 0;
}

template <std::size_t N>
std::size_t empty_at_end(const std::array<bool, N>& is_empty) {
  std::size_t count = 0;
  while (count < N && is_empty[N - 1 - count]) ++count;
  return count;
}

std::size_t lacking_fields(const Event& event) {
  if (const auto* decided = std::get_if<CallDecided>(&event)) {
    return empty_at_end<3>(
        {decided->answer == 0, decided->signature.empty(), decided->signed_by.empty()});
  }
  const auto* started = std::get_if<RunStarted>(&event);
  if (started == nullptr) return 0;
  return empty_at_end<2>({started->signers.empty(), started->start_signature.empty()});
}

// The event has its own length, so that a reader can step over a type it does not know.
void put_event(ByteWriter& out, const Event& event) {
  if (const Unrecognised* foreign = std::get_if<Unrecognised>(&event)) {
    out.number(foreign->type);
    out.number(kOptionalFlag);
    return out.text(foreign->body);
  }
  out.number(event.index());
  out.number(0);  // flags
  const std::size_t start = out.size();
  std::visit([&out](const auto& fact) { out.put(fact); }, event);
  for (std::size_t left = lacking_fields(event); left > 0; --left) out.drop_last();
  out.insert_length(start);
}

template <std::size_t... I>
bool take_fact(ByteReader& body, Event& event, std::uint64_t index, std::index_sequence<I...>) {
  return ((I == index ? (body.take(event.emplace<I>()), true) : false) || ...);
}

bool take_whole_fact(std::string_view bytes, Event& event, std::uint64_t type) {
  ByteReader body(bytes);
  take_fact(body, event, type, std::make_index_sequence<std::variant_size_v<Event>>{});
  return !body.failed() && body.at_end();
}

Status take_body(std::string_view bytes, Event& event, std::uint64_t type) {
  // One value has one form: a later field that is empty and last is not there.
  std::size_t added = 0;
  bool whole = take_whole_fact(bytes, event, type);
  while (!whole && added < later_fields(event)) {
    whole = take_whole_fact(std::string(bytes) + std::string(++added, '\0'), event, type);
  }
  return whole && lacking_fields(event) == added ? Status(ok()) : damaged("an event");
}

Status take_event(ByteReader& in, Event& event) {
  const std::uint64_t type = in.number();
  const std::uint64_t flags = in.number();
  const std::string_view bytes = in.raw(in.number());
  if (in.failed() || flags > kOptionalFlag) return damaged("an event");
  const bool known = type < kKnownEvents;
  const bool optional = flags == kOptionalFlag;
  if (known && optional) return damaged("an event");
  if (optional) {
    event = Unrecognised{type, std::string(bytes)};
    return ok();
  }
  if (!known) {
    return Error{ErrorCode::invalid_argument,
                 "event type " + std::to_string(type) + " is not known to this version of Pawl"};
  }
  return take_body(bytes, event, type);
}

}  // namespace

std::string encode_record(const Record& record) {
  ByteWriter out;
  out.number(kRecordVersion);
  out.number(record.seq);
  out.put(record.stamp);
  out.put(record.instance);
  put_event(out, record.event);
  out.put(record.decisions);
  out.put(record.effects);
  return out.take();
}

Result<Record> decode_record(std::string_view bytes) {
  ByteReader in(bytes);
  PAWL_CHECK(take_version(in));
  Record record;
  in.take(record.seq);
  in.take(record.stamp);
  in.take(record.instance);
  if (in.failed()) return damaged("a record");
  PAWL_CHECK(take_event(in, record.event));
  in.take(record.decisions);
  in.take(record.effects);
  if (in.failed() || !in.at_end()) return damaged("a record");
  const bool skippable = std::holds_alternative<Unrecognised>(record.event);
  if (skippable && !(record.decisions.empty() && record.effects.empty())) {
    return damaged("a record whose event may be skipped, but has consequences,");
  }
  return record;
}

Digest chain_origin(const RunId& run) {
  return sha256("pawl-journal-1:" + run.text);
}

Digest chain_after(const Digest& previous, std::string_view record_bytes) {
  return Sha256().add(previous.view()).add(record_bytes).finish();
}

std::string encode_snapshot(const Run& run) {
  ByteWriter out;
  out.number(kSnapshotVersion);
  out.put(run.state());
  return out.take();
}

// Whoever looks for one of them relies on it.
static bool in_order(const RunState& state) {
  const auto ascends = [](const auto& items) {
    return std::is_sorted(items.begin(), items.end(),
                          [](const auto& a, const auto& b) { return a.id <= b.id; });
  };
  return ascends(state.instances) && ascends(state.calls) && ascends(state.open);
}

Result<Run> decode_snapshot(std::string_view bytes) {
  ByteReader in(bytes);
  const std::uint64_t version = in.number();
  if (in.failed() || version != kSnapshotVersion) return damaged("a snapshot");
  Run run;
  in.take(run.state_);
  if (in.failed() || !in.at_end() || !in_order(run.state_)) return damaged("a snapshot");
  for (const Instance& one : run->instances) {
    run.reserved_.add(reserved_in(run.state(), one.phase));
  }
  return run;
}

std::string encode_event(const Event& event) {
  ByteWriter out;
  out.number(kRecordVersion);
  put_event(out, event);
  return out.take();
}

std::optional<std::string> question_of(std::string_view event_bytes) {
  const auto event = decode_event(event_bytes);
  const auto* decided = event ? std::get_if<CallDecided>(&*event) : nullptr;
  if (decided == nullptr) return std::nullopt;
  ByteWriter out;
  out.put(decided->instance);
  out.put(decided->call);
  out.put(decided->binding);
  return out.take();
}

Result<Event> decode_event(std::string_view bytes) {
  ByteReader in(bytes);
  PAWL_CHECK(take_version(in));
  Event event;
  PAWL_CHECK(take_event(in, event));
  if (!in.at_end()) return damaged("an event");
  return event;
}

}  // namespace pawl
