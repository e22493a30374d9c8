// Who is due when, the earliest first, and of two at the same time who came first. Each knows its
// place, so that one leaves as cheaply as it came: most timers are never due.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace pawl::epoll {

class TimerHeap {
 public:
  // What is kept here derives from it.
  struct Member {
    std::int64_t at_ns = 0;
    std::uint64_t number = 0;  // in the order of coming
    std::size_t place = kNowhere;
  };
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  Member* first() const { return members_.empty() ? nullptr : members_.front(); }

  void add(Member& member) {
    member.place = members_.size();
    members_.push_back(&member);
    rise(member.place);
  }

  // One that is not here stays as it is.
  void remove(Member& member) {
    const std::size_t place = std::exchange(member.place, kNowhere);
    if (place == kNowhere) return;
    Member* const last = members_.back();
    members_.pop_back();
    if (last == &member) return;
    put(place, last);
    rise(place);
    sink(last->place);
  }

 private:
  static bool is_before(const Member& a, const Member& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.number < b.number;
  }

  void put(std::size_t place, Member* member) {
    members_[place] = member;
    member->place = place;
  }

  void swap(std::size_t a, std::size_t b) {
    Member* const moved = members_[a];
    put(a, members_[b]);
    put(b, moved);
  }

  void rise(std::size_t place) {
    while (place > 0) {
      const std::size_t parent = (place - 1) / 2;
      if (!is_before(*members_[place], *members_[parent])) return;
      swap(place, parent);
      place = parent;
    }
  }

  void sink(std::size_t place) {
    while (true) {
      std::size_t least = place;
      for (const std::size_t child : {2 * place + 1, 2 * place + 2}) {
        if (child < members_.size() && is_before(*members_[child], *members_[least])) least = child;
      }
      if (least == place) return;
      swap(place, least);
      place = least;
    }
  }

  std::vector<Member*> members_;
};

}  // namespace pawl::epoll
