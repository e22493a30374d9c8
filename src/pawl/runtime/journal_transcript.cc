#include "pawl/runtime/journal_transcript.h"

#include "pawl/kernel/transcript.h"
#include "pawl/runtime/driver.h"

namespace pawl {
namespace {

class JournalTranscript : public Transcript {
 public:
  JournalTranscript(std::weak_ptr<const Driver> driver, JournalReader& reader, InstanceId instance,
                    std::size_t length, std::shared_ptr<std::optional<Error>> unreadable)
      : driver_(std::move(driver)),
        reader_(reader),
        instance_(instance),
        length_(length),
        unreadable_(std::move(unreadable)) {}

  std::size_t length() const override { return length_; }

  Result<Message> at(std::size_t index) const override {
    const auto driver = driver_.lock();
    const Instance* instance = driver ? find_instance(driver->run().state(), instance_) : nullptr;
    if (instance == nullptr || index >= length_ || index >= instance->transcript.size()) {
      return Error{ErrorCode::not_found, "no such message"};
    }
    auto message = read(*driver, instance->transcript[index]);
    if (!message) *unreadable_ = message.error();
    return message;
  }

 private:
  Result<Message> read(const Driver& driver, const Entry& entry) const {
    const RunId& id = driver.id();
    // What lies before the snapshot that the run was loaded from was checked by nobody here.
    const bool trusted = entry.seq >= driver.checked_from();
    PAWL_TRY(const Record record, trusted ? read_trusted_record(reader_, id, entry.seq)
                                          : read_record(reader_, id, entry.seq));
    PAWL_TRY(Message message, message_of(entry, record));
    PAWL_TRY(std::string text, resolve(reader_, id, message.text));
    message.text = Content(std::move(text));
    for (Block& block : message.blocks) PAWL_CHECK(resolve_block(id, block));
    for (Attachment& one : message.attachments) {
      PAWL_TRY(std::string bytes, resolve(reader_, id, one.bytes));
      one.bytes = Content(std::move(bytes));
    }
    return message;
  }

  Status resolve_block(const RunId& id, Block& block) const {
    Content* content = std::visit(
        [](auto& one) -> Content* {
          if constexpr (requires { one.text; }) return &one.text;
          if constexpr (requires { one.input; }) return &one.input;
          if constexpr (requires { one.json; }) return &one.json;
        },
        block);
    PAWL_TRY(std::string bytes, resolve(reader_, id, *content));
    *content = Content(std::move(bytes));
    return ok();
  }

  std::weak_ptr<const Driver> driver_;
  JournalReader& reader_;
  InstanceId instance_;
  std::size_t length_;
  std::shared_ptr<std::optional<Error>> unreadable_;
};

}  // namespace

std::shared_ptr<const Transcript> make_journal_transcript(
    std::weak_ptr<const Driver> driver, JournalReader& reader, InstanceId instance,
    std::size_t length, std::shared_ptr<std::optional<Error>> unreadable) {
  return std::make_shared<JournalTranscript>(std::move(driver), reader, instance, length,
                                             std::move(unreadable));
}

}  // namespace pawl
