#include "pawl/adapter/journal_sqlite/tail.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace pawl::sqlite {

std::size_t Places::put(const Place& place) {
  if (places_.empty() || places_.back().seq < place.seq) {
    places_.push_back(place);
    return 0;
  }
  const auto there = places_.begin() + (from(place.seq) - places_.begin());
  if (there->seq == place.seq) return std::exchange(*there, place).bytes;
  places_.insert(there, place);
  return 0;
}

std::size_t Places::drop_first(std::size_t count) {
  const auto end = places_.begin() + static_cast<std::ptrdiff_t>(count);
  std::size_t bytes = 0;
  for (auto place = places_.begin(); place != end; ++place) bytes += place->bytes;
  places_.erase(places_.begin(), end);
  return bytes;
}

std::size_t Places::drop_up_to(std::int64_t row) {
  std::size_t bytes = 0;
  std::erase_if(places_, [&](const Place& place) {
    const bool dropped = place.row <= row;
    if (dropped) bytes += place.bytes;
    return dropped;
  });
  return bytes;
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
  bytes_ -= places.put({seq, row, bytes});
  bytes_ += bytes;
  size_ += places.size() - before;
  last_row_ = row;
  newest_ = {generation, run, seq, row, bytes};
}

std::uint64_t Tail::count_holes() const {
  std::uint64_t holes = 0;
  for (const auto& [run, places] : runs_) {
    const std::uint64_t spanned = places.last().seq - places.begin()->seq + 1;
    holes += spanned - std::min<std::uint64_t>(spanned, places.size());
  }
  return holes;
}

void Tail::add_damaged(std::int64_t row) {
  last_row_ = row;
  if (damaged_rows.size() < kDamagedRowsMax) return damaged_rows.push_back(row);
  gap = "more than " + std::to_string(kDamagedRowsMax) + " rows of table journal are damaged";
}

bool Tail::is_longer_than(std::size_t times) const {
  const std::size_t worth_a_page = std::min(runs_.size() * kRecordsOfRun, kRecordsMax);
  return size_ > std::max(kRecordsMin, worth_a_page) * times ||
         (size_ > kRecordsMin && bytes_ > kBytesMax * times);
}

void Tail::drop_up_to(std::int64_t row) {
  size_ = 0;
  for (auto run = runs_.begin(); run != runs_.end();) {
    bytes_ -= run->second.drop_up_to(row);
    size_ += run->second.size();
    run = run->second.size() == 0 ? runs_.erase(run) : std::next(run);
  }
  last_row_ = std::max(last_row_, row);
  dropped_up_to_ = row;
  if (placing && placing->up_to <= row) placing.reset();
}

void Tail::drop_first(std::int64_t run, std::size_t count) {
  const auto found = runs_.find(run);
  if (found == runs_.end()) return;
  bytes_ -= found->second.drop_first(count);
  size_ -= count;
  if (found->second.size() == 0) runs_.erase(found);
}

void Tail::begin_placing() {
  placing.emplace().up_to = last_row_;
  placing->runs.reserve(runs_.size());
  for (const auto& [run, places] : runs_) placing->runs.push_back(run);
  // The last one's turn comes first.
  std::sort(placing->runs.begin(), placing->runs.end(), std::greater<>());
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
