// Where the newest records are. Finding a record by run and number needs an index, and an index
// that is kept up with every append costs a page of each run's own for every record. So `places` is
// brought up to date some thousand records at a time, run after run, a few with every commit: all
// at once would keep everybody waiting for tens of milliseconds. Which records may not be in it yet
// each connection knows by itself, by having read the last rows of `journal`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace pawl::sqlite {

// Of one run: which row holds which record, in the order of the records. One after the other in
// memory: a node for each would be the writer's most frequent allocation.
class Places {
 public:
  struct Place {
    std::uint64_t seq = 0;
    std::int64_t row = 0;
    std::size_t bytes = 0;  // of the record
    friend bool operator==(const Place&, const Place&) = default;
  };
  using Iterator = std::vector<Place>::const_iterator;

  Places() = default;
  Places(std::initializer_list<Place> places) : places_(places) {}

  // These return how many bytes those had that are no longer here. A record that is put again is at
  // another row now.
  std::size_t put(const Place& place);
  std::size_t drop_first(std::size_t count);
  std::size_t drop_up_to(std::int64_t row);
  bool contains(std::uint64_t seq) const;
  Iterator from(std::uint64_t seq) const;  // the first that is not before it
  Iterator begin() const { return places_.begin(); }
  Iterator end() const { return places_.end(); }
  std::size_t size() const { return places_.size(); }
  const Place& last() const { return places_.back(); }
  std::span<const Place> all() const { return places_; }
  friend bool operator==(const Places&, const Places&) = default;

 private:
  std::vector<Place> places_;
};

// How far bringing `places` up to date has come.
struct Placing {
  std::int64_t up_to = 0;          // the rows that are in it when it is over
  std::vector<std::int64_t> runs;  // those left, neighbours in the tree one after the other
};

// A record that a connection has written.
struct Written {
  std::optional<std::int64_t> generation;
  std::int64_t run = 0;
  std::uint64_t seq = 0;
  std::int64_t row = 0;
  std::size_t bytes = 0;
};

class Tail {
 public:
  // Records of the journal that `places` does not know. When there are too many it begins to be
  // brought up to date, which writes at least a page for each run among them: so it may grow with
  // their number. Whoever opens the store reads its rows.
  static constexpr std::size_t kRecordsMin = 4'096;
  static constexpr std::size_t kRecordsOfRun = 384;
  static constexpr std::size_t kRecordsMax = 24'576;
  static constexpr std::size_t kBytesMax = 8U << 20U;
  // So many times too many have come before it was done, as when others write in between: the rest
  // at once.
  static constexpr std::size_t kFarTooMany = 2;

  // A row behind all rows known so far.
  void add(std::int64_t run, std::uint64_t seq, std::int64_t row, std::size_t bytes);
  bool is_too_long() const { return is_longer_than(1); }
  bool is_far_too_long() const { return is_longer_than(kFarTooMany); }
  // As after a rollback: nothing is known.
  void forget() { *this = Tail(); }
  // Everything up to this row is in `places`.
  void drop_up_to(std::int64_t row);
  // The first of a run's are in `places`.
  void drop_first(std::int64_t run, std::size_t count);
  void begin_placing();

  // Null: it has none here.
  const Places* places_of(std::int64_t run) const;
  std::optional<std::uint64_t> last_of(std::int64_t run) const;
  std::size_t size() const { return size_; }
  std::int64_t last_row() const { return last_row_; }
  std::int64_t dropped_up_to() const { return dropped_up_to_; }
  // What was added last.
  Written newest() const { return newest_; }

  // Rows that cannot be told whose they are, or are not there. They are not among the places.
  bool is_whole() const { return damaged_rows.empty() && gap.empty(); }
  // Records that are missing between others of their run.
  std::uint64_t count_holes() const;
  // A row behind all known ones that does not check.
  void add_damaged(std::int64_t row);
  // Somebody has decided to go on with what is here.
  void accept_damage() {
    damaged_rows.clear();
    gap.clear();
  }
  static constexpr std::size_t kDamagedRowsMax = 64;  // with more it has a gap
  std::vector<std::int64_t> damaged_rows;
  std::string gap;  // which rows are gone

  bool is_current = false;                 // in this transaction; a writer's only
  std::optional<std::int64_t> generation;  // nothing: never read
  std::optional<Placing> placing;          // under way

 private:
  bool is_longer_than(std::size_t times) const;

  std::unordered_map<std::int64_t, Places> runs_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;  // of the records
  std::int64_t last_row_ = 0;
  std::int64_t dropped_up_to_ = 0;
  Written newest_;
};

}  // namespace pawl::sqlite
