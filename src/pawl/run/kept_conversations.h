// The conversations of a live run, kept in memory: messages come from the records that the run is
// fed, and from the store when they are not here. Beside each conversation lies what executors made
// of it. What is kept belongs to a conversation whose beginning stays; a cut drops it.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/events.h"
#include "pawl/executor.h"
#include "pawl/journal/record_view.h"
#include "pawl/journal/run_loader.h"
#include "pawl/run/conversation_memory.h"

namespace pawl {

// Messages that are kept of one conversation, the latest of it: executors keep what they have
// written of the others.
inline constexpr std::size_t kKeptMessagesBytesMax = 256U << 10U;
// Records that nobody has asked for yet.
inline constexpr std::size_t kRecentRecordsMax = 64;
inline constexpr std::size_t kRecentBytesMax = 1U << 20U;
// Works of executors beside one conversation: of one model, and of those it fails over to.
inline constexpr std::size_t kKeptWorksMax = 4;

class KeptConversations final : public ConversationMemory::Keeper {
 public:
  // Of the run that is `loaded`, which may be replaced. All of them outlive this object.
  KeptConversations(const LoadedRun& loaded, JournalReader& reader, ConversationMemory& memory)
      : loaded_(loaded), reader_(reader), part_(memory, *this) {}

  // A record that was just decided, with the bytes of its contents.
  void note(const std::shared_ptr<const RecordView>& view, const std::vector<StoredBlob>& blobs);
  // The run went back to an earlier state.
  void forget();

  // The messages of the range in the instance's conversation as it is now.
  Result<std::vector<Message>> load(const Instance& instance, MessageRange range);

  // Says which conversation it is: another number, another beginning.
  std::uint64_t number_of(const Instance& instance);
  // See Transcript. Of another conversation than the present one there is no work.
  std::unique_ptr<KeptWork> take_work(InstanceId instance, std::uint64_t number,
                                      std::string_view name);
  void keep_work(InstanceId instance, std::uint64_t number, std::string_view name,
                 std::unique_ptr<KeptWork> work);

  void let_go() override;

 private:
  struct Recent {
    std::shared_ptr<const RecordView> view;
    std::vector<StoredBlob> blobs;
    std::size_t bytes = 0;
  };
  struct Work {
    std::string name;
    std::unique_ptr<KeptWork> work;
    std::size_t bytes = 0;
  };
  struct Conversation {
    std::uint64_t number = 0;
    // To see that the beginning is still the same.
    Entry first_entry;
    Entry last_entry;
    std::size_t length = 0;
    // The messages [first, first + messages.size()).
    std::size_t first = 0;
    std::deque<Message> messages;
    std::size_t message_bytes = 0;
    std::list<Work> works;  // the one kept last comes last
  };

  Conversation& conversation_of(const Instance& instance);
  Conversation begin_anew() { return Conversation{++numbers_, {}, {}, 0, 0, {}, 0, {}}; }
  const Recent* recent(std::uint64_t seq) const;
  Result<Message> read(const Entry& entry, const Recent* recent) const;
  void keep_message(Conversation& conversation, std::size_t index, const Message& message);
  void forget_recent();
  void count();

  const LoadedRun& loaded_;
  JournalReader& reader_;
  std::map<InstanceId, Conversation> conversations_;
  std::uint64_t conversation_bytes_ = 0;  // when they were counted last
  std::deque<Recent> recent_;
  std::size_t recent_bytes_ = 0;
  std::uint64_t numbers_ = 0;
  ConversationMemory::Part part_;
};

}  // namespace pawl
