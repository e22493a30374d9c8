#include "pawl/run/kept_conversations.h"

#include <algorithm>
#include <utility>

#include "pawl/journal/contents.h"
#include "pawl/kernel/transcript.h"

namespace pawl {
namespace {

constexpr std::size_t kBytesOfARecord = 2'048;

std::size_t inline_bytes(const Event& event) {
  std::size_t bytes = kBytesOfARecord;
  const auto add = [&bytes](const Content& content) {
    if (content.bytes() != nullptr) bytes += content.length();
  };
  std::visit([&add](const auto& fact) { visit_contents(fact, add); }, event);
  return bytes;
}

// Bytes of a record that is not in the store yet, or need not be read from there.
class Contents {
 public:
  Contents(JournalReader& reader, const RunId& run, const std::vector<StoredBlob>* blobs)
      : reader_(reader), run_(run), blobs_(blobs) {}

  Status fill(Content& content) const {
    const BlobRef* const blob = content.blob();
    if (blob == nullptr) return ok();
    if (const StoredBlob* here = find(blob->digest)) {
      content = Content(here->bytes);
      return ok();
    }
    PAWL_TRY(std::string bytes, reader_.blob(run_, blob->digest));
    content = Content(std::move(bytes));
    return ok();
  }

  Status fill(Message& message) const {
    PAWL_CHECK(fill(message.text));
    if (!message.heading.empty() || !message.ending.empty()) {
      std::string text = *message.text.bytes();
      if (!message.heading.empty()) text = std::exchange(message.heading, {}) + "\n" + text;
      if (!message.ending.empty()) text += "\n" + std::exchange(message.ending, {});
      message.text = Content(std::move(text));
    }
    for (Block& block : message.blocks) PAWL_CHECK(fill(content_of(block)));
    for (Attachment& one : message.attachments) PAWL_CHECK(fill(one.bytes));
    return ok();
  }

 private:
  static Content& content_of(Block& block) {
    return *std::visit(
        [](auto& one) -> Content* {
          if constexpr (requires { one.text; }) return &one.text;
          if constexpr (requires { one.input; }) return &one.input;
          if constexpr (requires { one.json; }) return &one.json;
        },
        block);
  }

  const StoredBlob* find(const Digest& digest) const {
    if (blobs_ == nullptr) return nullptr;
    const auto found = std::find_if(blobs_->begin(), blobs_->end(), [&](const StoredBlob& one) {
      return one.digest == digest && !one.expired_at_ms;
    });
    return found == blobs_->end() ? nullptr : &*found;
  }

  JournalReader& reader_;
  const RunId& run_;
  const std::vector<StoredBlob>* blobs_;
};

// Whose conversation a decision begins anew; a count() of it may be the same afterwards.
std::optional<InstanceId> began_anew(const Decision& decision) {
  if (const auto* cut = std::get_if<TranscriptCut>(&decision)) return cut->instance;
  if (const auto* entered = std::get_if<NodeEntered>(&decision)) return entered->instance;
  if (const auto* ended = std::get_if<InstanceEnded>(&decision)) return ended->instance;
  return std::nullopt;
}

}  // namespace

// --- Records ------------------------------------------------------------------------------------

void KeptConversations::note(const std::shared_ptr<const RecordView>& view,
                             const std::vector<StoredBlob>& blobs) {
  for (const Decision& decision : view->record.decisions) {
    if (const auto instance = began_anew(decision)) conversations_.erase(*instance);
  }
  Recent recent{view, {}, inline_bytes(view->record.event)};
  for (const StoredBlob& blob : blobs) {
    if (recent.bytes + blob.bytes.size() > kRecentBytesMax) continue;
    recent.bytes += blob.bytes.size();
    recent.blobs.push_back(blob);
  }
  recent_bytes_ += recent.bytes;
  recent_.push_back(std::move(recent));
  while (recent_.size() > kRecentRecordsMax || recent_bytes_ > kRecentBytesMax) forget_recent();
  part_.use(conversation_bytes_ + recent_bytes_);
}

void KeptConversations::forget_recent() {
  recent_bytes_ -= recent_.front().bytes;
  recent_.pop_front();
}

const KeptConversations::Recent* KeptConversations::recent(std::uint64_t seq) const {
  if (recent_.empty() || seq < recent_.front().view->record.seq) return nullptr;
  const std::uint64_t place = seq - recent_.front().view->record.seq;
  if (place >= recent_.size()) return nullptr;
  const Recent& found = recent_[place];
  PAWL_ASSERT(found.view->record.seq == seq);  // Records are noted one after the other.
  return &found;
}

void KeptConversations::forget() {
  let_go();
  part_.use(0);
}

void KeptConversations::let_go() {
  conversations_.clear();
  conversation_bytes_ = 0;
  recent_.clear();
  recent_bytes_ = 0;
}

void KeptConversations::count() {
  conversation_bytes_ = 0;
  for (const auto& [id, one] : conversations_) {
    conversation_bytes_ += one.message_bytes;
    for (const Work& work : one.works) conversation_bytes_ += work.bytes;
  }
  part_.use(conversation_bytes_ + recent_bytes_);
}

// --- Messages -----------------------------------------------------------------------------------

KeptConversations::Conversation& KeptConversations::conversation_of(const Instance& instance) {
  const std::vector<Entry>& entries = instance.transcript;
  const auto found = conversations_.find(instance.id);
  if (found == conversations_.end()) {
    return conversations_.emplace(instance.id, begin_anew()).first->second;
  }
  Conversation& known = found->second;
  const bool same = known.length == 0 ||
                    (known.length <= entries.size() && entries.front() == known.first_entry &&
                     entries[known.length - 1] == known.last_entry);
  if (!same) known = begin_anew();
  return known;
}

std::uint64_t KeptConversations::number_of(const Instance& instance) {
  return conversation_of(instance).number;
}

Result<Message> KeptConversations::read(const Entry& entry, const Recent* recent) const {
  const RunId& id = loaded_.run->id;
  Result<Message> message = Error{};
  if (recent != nullptr) {
    message = message_of(entry, recent->view->record);
  } else {
    // What lies before the snapshot that the run was loaded from was checked by nobody here.
    const bool trusted = entry.seq >= loaded_.checked_from;
    PAWL_TRY(const Record record, trusted ? read_trusted_record(reader_, id, entry.seq)
                                          : read_record(reader_, id, entry.seq));
    message = message_of(entry, record);
  }
  if (!message) return message;
  const Contents contents(reader_, id, recent != nullptr ? &recent->blobs : nullptr);
  PAWL_CHECK(contents.fill(*message));
  return message;
}

Result<std::vector<Message>> KeptConversations::load(const Instance& instance, MessageRange range) {
  const std::vector<Entry>& entries = instance.transcript;
  Conversation& known = conversation_of(instance);
  const std::size_t begin = std::min(range.first, entries.size());
  const std::size_t end = begin + std::min(range.count, entries.size() - begin);
  std::vector<Message> messages;
  messages.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    if (i >= known.first && i - known.first < known.messages.size()) {
      messages.push_back(known.messages[i - known.first]);
      continue;
    }
    const Recent* const here = recent(entries[i].seq);
    PAWL_TRY(Message message, read(entries[i], here));
    if (here != nullptr) keep_message(known, i, message);
    messages.push_back(std::move(message));
  }
  if (!entries.empty()) {
    known.first_entry = entries.front();
    known.last_entry = entries.back();
    known.length = entries.size();
  }
  // A run of one instance has no other use for its records, once they were read.
  if (end == entries.size() && loaded_.run->instances.size() == 1) {
    recent_.clear();
    recent_bytes_ = 0;
  }
  count();
  return messages;
}

// The latest stay: what is behind a gap takes the place of what is before it.
void KeptConversations::keep_message(Conversation& known, std::size_t index,
                                     const Message& message) {
  if (index != known.first + known.messages.size()) {
    known.messages.clear();
    known.message_bytes = 0;
    known.first = index;
  }
  known.messages.push_back(message);
  known.message_bytes += bytes_of(message);
  while (known.message_bytes > kKeptMessagesBytesMax) {
    known.message_bytes -= bytes_of(known.messages.front());
    known.messages.pop_front();
    ++known.first;
  }
}

// --- Works of executors -------------------------------------------------------------------------

std::unique_ptr<KeptWork> KeptConversations::take_work(InstanceId instance, std::uint64_t number,
                                                       std::string_view name) {
  const auto found = conversations_.find(instance);
  if (found == conversations_.end() || found->second.number != number) return nullptr;
  std::list<Work>& works = found->second.works;
  const auto work =
      std::find_if(works.begin(), works.end(), [&](const Work& one) { return one.name == name; });
  if (work == works.end()) return nullptr;
  std::unique_ptr<KeptWork> taken = std::move(work->work);
  works.erase(work);
  return taken;
}

void KeptConversations::keep_work(InstanceId instance, std::uint64_t number, std::string_view name,
                                  std::unique_ptr<KeptWork> work) {
  const auto found = conversations_.find(instance);
  if (work == nullptr || found == conversations_.end() || found->second.number != number) return;
  std::list<Work>& works = found->second.works;
  works.remove_if([&](const Work& one) { return one.name == name; });
  if (works.size() == kKeptWorksMax) works.pop_front();
  const std::size_t bytes = work->bytes();
  works.push_back({std::string(name), std::move(work), bytes});
  count();
}

}  // namespace pawl
