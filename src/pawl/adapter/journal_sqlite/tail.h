// Where the newest records are. Finding a record by run and number needs an index, and an index
// that is kept up with every append costs a page of each run's own for every record. So `places` is
// brought up to date some thousand records at a time; which records are not in it yet each
// connection knows by itself, by having read the last rows of `journal`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
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
    friend bool operator==(const Place&, const Place&) = default;
  };
  using Iterator = std::vector<Place>::const_iterator;

  Places() = default;
  Places(std::initializer_list<Place> places) : places_(places) {}

  // A record that is there already is at `row` now.
  void put(std::uint64_t seq, std::int64_t row);
  bool contains(std::uint64_t seq) const;
  Iterator from(std::uint64_t seq) const;  // the first that is not before it
  Iterator begin() const { return places_.begin(); }
  Iterator end() const { return places_.end(); }
  std::size_t size() const { return places_.size(); }
  const Place& last() const { return places_.back(); }
  friend bool operator==(const Places&, const Places&) = default;

 private:
  std::vector<Place> places_;
};

class Tail {
 public:
  // Records of the journal that `places` does not know. A commit after which there are too many
  // brings `places` up to date, which writes at least a page for each run among them: so it may
  // grow with their number. Whoever opens the store reads its rows.
  static constexpr std::size_t kRecordsMin = 4'096;
  static constexpr std::size_t kRecordsOfRun = 384;
  static constexpr std::size_t kRecordsMax = 24'576;
  static constexpr std::size_t kBytesMax = 8U << 20U;

  // A row behind all rows known so far.
  void add(std::int64_t run, std::uint64_t seq, std::int64_t row, std::size_t bytes);
  bool is_too_long() const;
  // As after a rollback: nothing is known.
  void forget() { *this = Tail(); }
  // Everything up to `up_to` is in `places`.
  void drop_all(std::int64_t up_to);

  // Null: it has none here.
  const Places* places_of(std::int64_t run) const;
  std::optional<std::uint64_t> last_of(std::int64_t run) const;
  const std::unordered_map<std::int64_t, Places>& runs() const { return runs_; }
  std::size_t size() const { return size_; }
  std::int64_t last_row() const { return last_row_; }

  bool is_current = false;                 // in this transaction; a writer's only
  std::optional<std::int64_t> generation;  // nothing: never read

 private:
  std::unordered_map<std::int64_t, Places> runs_;
  std::size_t size_ = 0;
  std::size_t bytes_ = 0;  // of the records
  std::int64_t last_row_ = 0;
};

}  // namespace pawl::sqlite
