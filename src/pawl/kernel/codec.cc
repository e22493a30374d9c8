#include "pawl/kernel/codec.h"

#include "pawl/kernel/bytes.h"
#include "pawl/result.h"

namespace pawl {
namespace {

Error damaged(std::string_view what) {
  return Error{ErrorCode::corrupt, std::string(what) + " cannot be decoded"};
}

constexpr std::uint64_t kKnownEvents = std::variant_size_v<Event> - 1;
static_assert(std::is_same_v<std::variant_alternative_t<kKnownEvents, Event>, Unrecognised>);

// A record may hold many of them: see kListRoomPerByte. Each has at least two bytes, its tag and
// its length.
static_assert(sizeof(Decision) <= 2 * kListRoomPerByte);
static_assert(sizeof(Effect) <= 2 * kListRoomPerByte);
static_assert(sizeof(Block) <= 2 * kListRoomPerByte);
static_assert(sizeof(Attachment) <= kListRoomPerByte);

std::string version_text(std::uint64_t major, std::uint64_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

// The versions in front of a record or an inbox message.
struct Header {
  std::uint32_t minor = 0;
  WrittenBy writer() const {
    return minor > kRecordMinor ? WrittenBy::newer : WrittenBy::this_version;
  }
};

Result<Header> take_header(ByteReader& in) {
  const std::uint64_t major = in.number();
  if (in.failed() || major == 0) return damaged("a record");
  if (major != kRecordMajor) {
    return Error{ErrorCode::invalid_argument, "record version " + std::to_string(major) + " is " +
                                                  (major > kRecordMajor ? "newer" : "older") +
                                                  " than what this version of Pawl reads (" +
                                                  std::to_string(kRecordMajor) + ")"};
  }
  Header header;
  in.take(header.minor);
  if (in.failed()) return damaged("a record");
  return header;
}

// What a newer program has written need not be damaged because it cannot be read.
Error unreadable(const Header& header, std::string_view what) {
  if (header.writer() == WrittenBy::this_version) return damaged(what);
  const std::string theirs = version_text(kRecordMajor, header.minor);
  return Error{ErrorCode::invalid_argument, std::string(what) + " of version " + theirs +
                                                " holds what this version of Pawl (" +
                                                record_version() + ") does not know"};
}

void put_event(ByteWriter& out, const Event& event) {
  if (const Unrecognised* foreign = std::get_if<Unrecognised>(&event)) {
    out.number(tag_of(foreign->type) | kOptionalBit);
    return out.text(foreign->body);
  }
  out.put(event);
}

// Of an event that may be skipped the bytes are kept.
Status take_event(ByteReader& in, const Header& header, Event& event) {
  ByteReader ahead = in;
  const std::uint64_t tag = ahead.number();
  const std::uint64_t type = tag >> 1U;
  const bool newer = header.writer() == WrittenBy::newer;
  if (ahead.failed() || type < kKnownEvents || !newer) {
    in.take(event);
    const bool fits = !in.failed() && !std::holds_alternative<Unrecognised>(event);
    return fits ? Status(ok()) : unreadable(header, "an event");
  }
  if ((tag & kOptionalBit) == 0) {
    return Error{ErrorCode::invalid_argument,
                 "event type " + std::to_string(type) + " is not known to this version of Pawl"};
  }
  in = ahead;
  const std::string_view bytes = in.raw(in.number());
  if (in.failed()) return damaged("an event");
  event = Unrecognised{type, std::string(bytes)};
  return ok();
}

}  // namespace

std::string record_version() {
  return version_text(kRecordMajor, kRecordMinor);
}

std::string encode_record(const Record& record) {
  PAWL_ASSERT(is_understood(record));
  ByteWriter out;
  out.number(kRecordMajor);
  out.number(record.minor);
  out.number(record.seq);
  out.put(record.stamp);
  out.put(record.instance);
  put_event(out, record.event);
  out.put(record.decisions);
  out.put(record.effects);
  return out.take();
}

Result<Record> decode_record(std::string_view bytes) {
  ByteReader versions(bytes);
  PAWL_TRY(const Header header, take_header(versions));
  ByteReader in(bytes.substr(bytes.size() - versions.left()), header.writer());
  Record record;
  record.minor = header.minor;
  in.take(record.seq);
  in.take(record.stamp);
  in.take(record.instance);
  if (in.failed()) return unreadable(header, "a record");
  PAWL_CHECK(take_event(in, header, record.event));
  in.take(record.decisions);
  in.take(record.effects);
  if (!in.failed() && !in.at_end()) in.skip(in.left(), Skipped::fields);
  if (in.failed()) return unreadable(header, "a record");
  record.skipped = in.skipped();
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
  out.number(kRecordMinor);
  out.put(run.state());
  return out.take();
}

// Each instance becomes bytes of its own; in the end they are only put together.
struct SnapshotEncoder::Parts {
  RunState state;
  PreparedBytes ready;
  std::size_t instance = 0;  // the one that is encoded
  std::size_t entries = 0;   // of its conversation that are
  std::unique_ptr<ByteWriter> conversation;
};

SnapshotEncoder::SnapshotEncoder(const Run& run)
    : parts_(std::make_unique<Parts>(Parts{run.state(), {}, 0, 0, nullptr})) {}

SnapshotEncoder::SnapshotEncoder(SnapshotEncoder&& other) noexcept = default;
SnapshotEncoder::~SnapshotEncoder() = default;

bool SnapshotEncoder::encode(std::size_t entries_max) {
  Parts& parts = *parts_;
  while (parts.instance < parts.state.instances.size()) {
    if (entries_max == 0) return false;
    const Instance& instance = parts.state.instances[parts.instance];
    const std::vector<Entry>& transcript = instance.transcript;
    if (!parts.conversation) {
      parts.conversation = std::make_unique<ByteWriter>();
      parts.conversation->number(transcript.size());
      --entries_max;  // An instance counts as an entry.
    }
    for (; parts.entries < transcript.size(); ++parts.entries) {
      if (entries_max == 0) return false;
      --entries_max;
      parts.conversation->put(transcript[parts.entries]);
    }
    PreparedBytes conversation{{&transcript, parts.conversation->take()}};
    ByteWriter whole;
    whole.use(&conversation);
    whole.put(instance);
    parts.ready.emplace(&instance, whole.take());
    parts.conversation.reset();
    parts.entries = 0;
    ++parts.instance;
  }
  return true;
}

std::string SnapshotEncoder::take() {
  ByteWriter out;
  out.use(&parts_->ready);
  out.number(kSnapshotVersion);
  out.number(kRecordMinor);
  out.put(parts_->state);
  return out.take();
}

std::size_t snapshot_entries(const RunState& state) {
  std::size_t entries = state.instances.size();
  for (const Instance& instance : state.instances) entries += instance.transcript.size();
  return entries;
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
  const std::uint64_t minor = in.number();
  const bool own = version == kSnapshotVersion && minor == kRecordMinor;
  if (in.failed() || !own) return damaged("a snapshot");
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
  out.number(kRecordMajor);
  out.number(kRecordMinor);
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
  PAWL_TRY(const Header header, take_header(in));
  Event event;
  in.take(event);
  const bool fits = !in.failed() && !std::holds_alternative<Unrecognised>(event);
  if (!fits || !in.at_end()) return unreadable(header, "an event");
  return event;
}

}  // namespace pawl
