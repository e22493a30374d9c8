#include "pawl/kernel/agent_facts.h"

#include <doctest/doctest.h>

#include <set>

namespace pawl {
namespace {

template <class E>
std::set<std::string_view> names() {
  std::set<std::string_view> all;
  for (std::uint8_t i = 0; i < kCount<E>; ++i) all.insert(name(static_cast<E>(i)));
  return all;
}

TEST_CASE("every word that runs of a tree say to each other has a name of its own") {
  CHECK(names<PlaceUse>() == std::set<std::string_view>{"acts", "rests"});
  CHECK(names<AskKind>() == std::set<std::string_view>{"money", "place"});
  CHECK(names<AskVerdict>() == std::set<std::string_view>{"given", "refused"});
  CHECK(names<Steer>() == std::set<std::string_view>{"pause", "resume", "cancel"});
  CHECK(names<ChildLife>() == std::set<std::string_view>{"goes_on", "over"});
  CHECK(names<ChildLeave>() == std::set<std::string_view>{"detached", "given_up"});
}

}  // namespace
}  // namespace pawl
