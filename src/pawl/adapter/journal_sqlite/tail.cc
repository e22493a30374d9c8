#include "pawl/adapter/journal_sqlite/tail.h"

namespace pawl::sqlite {

void Tail::add(std::int64_t run, std::uint64_t seq, std::int64_t row) {
  if (runs_[run].insert_or_assign(seq, row).second) ++size_;
  last_row_ = row;
}

void Tail::drop_all(std::int64_t up_to) {
  runs_.clear();
  size_ = 0;
  last_row_ = up_to;
}

const Tail::Places* Tail::places_of(std::int64_t run) const {
  const auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> Tail::last_of(std::int64_t run) const {
  const Places* places = places_of(run);
  if (places == nullptr) return std::nullopt;
  return places->rbegin()->first;
}

}  // namespace pawl::sqlite
