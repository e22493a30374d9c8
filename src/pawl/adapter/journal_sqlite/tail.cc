#include "pawl/adapter/journal_sqlite/tail.h"

#include <algorithm>

namespace pawl::sqlite {

void Places::put(std::uint64_t seq, std::int64_t row) {
  if (places_.empty() || places_.back().seq < seq) {
    places_.push_back({seq, row});
    return;
  }
  const auto place = places_.begin() + (from(seq) - places_.begin());
  if (place->seq == seq) {
    place->row = row;
  } else {
    places_.insert(place, {seq, row});
  }
}

bool Places::contains(std::uint64_t seq) const {
  const auto place = from(seq);
  return place != places_.end() && place->seq == seq;
}

Places::Iterator Places::from(std::uint64_t seq) const {
  return std::lower_bound(
      places_.begin(), places_.end(), seq,
      [](const Place& place, std::uint64_t wanted) { return place.seq < wanted; });
}

void Tail::add(std::int64_t run, std::uint64_t seq, std::int64_t row, std::size_t bytes) {
  Places& places = runs_[run];
  const std::size_t before = places.size();
  places.put(seq, row);
  size_ += places.size() - before;
  bytes_ += bytes;
  last_row_ = row;
}

bool Tail::is_too_long() const {
  const std::size_t worth_a_page = std::min(runs_.size() * kRecordsOfRun, kRecordsMax);
  return size_ > std::max(kRecordsMin, worth_a_page) || (size_ > kRecordsMin && bytes_ > kBytesMax);
}

void Tail::drop_all(std::int64_t up_to) {
  runs_.clear();
  size_ = 0;
  bytes_ = 0;
  last_row_ = up_to;
}

const Places* Tail::places_of(std::int64_t run) const {
  const auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> Tail::last_of(std::int64_t run) const {
  const Places* places = places_of(run);
  if (places == nullptr) return std::nullopt;
  return places->last().seq;
}

}  // namespace pawl::sqlite
