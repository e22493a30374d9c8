// A store in front of another that fails as planned: for crash tests and the simulator. With no
// fault planned it keeps the contract of pawl/store.h as well as the one behind it.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pawl/loop.h"
#include "pawl/store.h"

namespace pawl {

struct JournalFault {
  enum class Kind {
    refuse_append,          // unavailable; not written
    lose_acknowledgement,   // unavailable; but written
    delay_acknowledgement,  // by `posts` turns of the loop
    crash_before_append,    // not written; nothing is acknowledged or done from then on
    crash_after_append,     // written; nothing is acknowledged or done from then on
    refuse_acquire,         // unavailable
    damage_read,            // one bit of the first record that has any
  };
  Kind kind = Kind::refuse_append;
  std::uint64_t nth = 1;    // which append, acquire or read, counted from 1
  std::uint32_t posts = 0;  // of a delay

  friend bool operator==(const JournalFault&, const JournalFault&) = default;
};

// Several faults of one call: the first in the list counts.
using JournalFaults = std::vector<JournalFault>;

struct SeededFaults {
  std::uint64_t seed = 0;
  std::uint64_t calls = 1000;       // faults fall on the first so many of each kind of call
  std::uint32_t per_thousand = 10;  // of them
  std::uint32_t posts_max = 8;
};

// The same seed gives the same faults, on every machine. Crashes are not among them.
JournalFaults seeded_faults(const SeededFaults& choice);

// The store behind; it must outlive the faulty one. ports_of() takes one object that is all four.
struct JournalPorts {
  Journal& journal;
  JournalReader& reader;
  Catalog& catalog;
  Inbox& inbox;
  Upkeep* upkeep = nullptr;  // null: none of it works
};

template <class Store>
JournalPorts ports_of(Store& store) {
  if constexpr (std::derived_from<Store, Upkeep>) return {store, store, store, store, &store};
  return {store, store, store, store};
}

class FaultyJournal final : public Journal,
                            public JournalReader,
                            public Catalog,
                            public Inbox,
                            public Upkeep {
 public:
  FaultyJournal(JournalPorts behind, Loop& loop, JournalFaults faults = {});
  ~FaultyJournal() override;
  FaultyJournal(const FaultyJournal&) = delete;
  FaultyJournal& operator=(const FaultyJournal&) = delete;

  // As if the process had died here: its runs are free, no callback comes any more, and what is
  // called fails as unavailable. To go on, put a new FaultyJournal in front of the same store.
  void crash();
  bool crashed() const { return crashed_; }
  std::uint64_t appends_seen() const { return appends_; }
  std::uint64_t acquires_seen() const { return acquires_; }
  std::uint64_t reads_seen() const { return reads_; }

  Result<RunLease> acquire(const RunId& run) override;
  void append(Append append, StatusCallback done) override;
  Status quarantine(const RunId& run, const std::string& why) override;
  Status forgive(const RunId& run, std::uint64_t epoch) override;
  Status lift_quarantine(const RunSummary& summary) override;

  Result<std::vector<StoredRecord>> read(const RunId& run, std::uint64_t from,
                                         std::size_t bytes_max) override;
  Result<std::string> blob(const RunId& run, const Digest& digest) override;
  Result<std::optional<StoredSnapshot>> snapshot(const RunId& run) override;
  Result<std::optional<std::int64_t>> expired_at(const RunId& run, const Digest& digest) override;

  Result<std::vector<RunSummary>> list(const ListQuery& query) override;
  Result<std::uint64_t> version() override;
  Result<bool> is_driven(const RunId& run) override;

  void post(const RunId& run, std::int64_t at_ms, std::string body, StatusCallback done) override;
  Result<std::vector<InboxRow>> pending(const RunId& run) override;
  void drop(const RunId& run, std::uint64_t epoch, std::vector<std::uint64_t> rows,
            StatusCallback done) override;
  Result<std::vector<RunId>> addressed() override;

  void remove(const RunId& run, StatusCallback done) override;
  void compact(std::function<void(Result<std::uint64_t>)> done) override;
  Result<StoreSize> size() override;
  Result<std::vector<RunSize>> run_sizes() override;
  Status check() override;

 private:
  // An append on its way. Answers are given in the order of the appends of a run.
  struct Slot {
    StatusCallback done;
    std::optional<Status> answer;
  };
  struct Line {
    std::deque<std::shared_ptr<Slot>> slots;
    bool failed = false;
  };
  struct Hold {
    std::shared_ptr<void> behind;
  };
  enum class Call { append, acquire, read };

  std::optional<JournalFault> fault_of(Call call, std::uint64_t nth) const;
  void forward(Append append, const std::shared_ptr<Slot>& slot,
               const std::optional<JournalFault>& fault);
  void answer_after(std::uint32_t posts, const std::string& run, const std::shared_ptr<Slot>& slot,
                    Status status);
  void answer(const std::string& run, const std::shared_ptr<Slot>& slot, Status status);
  Status check_upkeep() const;
  std::weak_ptr<char> watch() const { return alive_; }

  JournalPorts behind_;
  Loop& loop_;
  JournalFaults faults_;
  std::map<std::string, Line> lines_;
  std::vector<std::weak_ptr<Hold>> holds_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // gone after a crash
  bool crashed_ = false;
  std::uint64_t appends_ = 0;
  std::uint64_t acquires_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace pawl
