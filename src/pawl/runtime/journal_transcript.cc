#include "pawl/runtime/journal_transcript.h"

#include <algorithm>

#include "pawl/kernel/transcript.h"
#include "pawl/runtime/driven_run.h"

namespace pawl {
namespace {

class JournalTranscript : public Transcript {
 public:
  JournalTranscript(std::weak_ptr<const DrivenRun> run, InstanceId instance, std::size_t length,
                    std::shared_ptr<std::optional<Error>> unreadable)
      : run_(std::move(run)),
        instance_(instance),
        length_(length),
        unreadable_(std::move(unreadable)) {}

  std::size_t length() const override { return length_; }

  Result<std::vector<Message>> load(MessageRange range) const override {
    const std::size_t first = std::min(range.first, length_);
    const std::size_t end = first + std::min(range.count, length_ - first);
    const auto run = run_.lock();
    const Instance* instance = run ? find_instance(run->state(), instance_) : nullptr;
    if (instance == nullptr || end > instance->transcript.size()) {
      return Error{ErrorCode::not_found, "the conversation has changed"};
    }
    std::vector<Message> messages;
    messages.reserve(end - first);
    for (std::size_t i = first; i < end; ++i) {
      auto message = read(*run, instance->transcript[i]);
      if (!message) return *(*unreadable_ = message.error());
      messages.push_back(*std::move(message));
    }
    return messages;
  }

 private:
  Result<Message> read(const DrivenRun& run, const Entry& entry) const {
    const RunId& id = run.id();
    JournalReader& reader = run.reader();
    // What lies before the snapshot that the run was loaded from was checked by nobody here.
    const bool trusted = entry.seq >= run.checked_from();
    PAWL_TRY(const Record record, trusted ? read_trusted_record(reader, id, entry.seq)
                                          : read_record(reader, id, entry.seq));
    PAWL_TRY(Message message, message_of(entry, record));
    PAWL_TRY(std::string text, resolve(reader, id, message.text));
    message.text = Content(std::move(text));
    for (Block& block : message.blocks) PAWL_CHECK(resolve_block(reader, id, block));
    for (Attachment& one : message.attachments) {
      PAWL_TRY(std::string bytes, resolve(reader, id, one.bytes));
      one.bytes = Content(std::move(bytes));
    }
    return message;
  }

  static Status resolve_block(JournalReader& reader, const RunId& id, Block& block) {
    Content* content = std::visit(
        [](auto& one) -> Content* {
          if constexpr (requires { one.text; }) return &one.text;
          if constexpr (requires { one.input; }) return &one.input;
          if constexpr (requires { one.json; }) return &one.json;
        },
        block);
    PAWL_TRY(std::string bytes, resolve(reader, id, *content));
    *content = Content(std::move(bytes));
    return ok();
  }

  std::weak_ptr<const DrivenRun> run_;
  InstanceId instance_;
  std::size_t length_;
  std::shared_ptr<std::optional<Error>> unreadable_;
};

}  // namespace

std::shared_ptr<const Transcript> make_journal_transcript(
    DrivenRun& run, InstanceId instance, std::size_t length,
    std::shared_ptr<std::optional<Error>> unreadable) {
  return std::make_shared<JournalTranscript>(run.weak(run), instance, length,
                                             std::move(unreadable));
}

}  // namespace pawl
