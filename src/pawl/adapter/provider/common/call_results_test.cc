#include "pawl/adapter/provider/common/conversation.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

Message result(std::uint64_t number) {
  Message message;
  message.role = Role::tool;
  message.call = CallId{number};
  return message;
}

// The numbers at the places of the calls; 0 where there is none.
std::vector<std::uint64_t> places(std::size_t calls, const std::vector<std::uint64_t>& numbers) {
  std::vector<Message> messages;
  for (const std::uint64_t number : numbers) messages.push_back(result(number));
  std::vector<const Message*> pointers;
  for (const Message& message : messages) pointers.push_back(&message);
  std::vector<std::uint64_t> found;
  for (const Message* message : results_of(calls, pointers)) {
    found.push_back(message != nullptr ? static_cast<std::uint64_t>(message->call) : 0);
  }
  return found;
}

TEST_CASE("results find their calls by number, in whatever order they came") {
  using Numbers = std::vector<std::uint64_t>;
  CHECK(places(3, {5, 6, 7}) == Numbers{5, 6, 7});
  CHECK(places(3, {7, 5, 6}) == Numbers{5, 6, 7});
  CHECK(places(3, {7, 5}) == Numbers{5, 0, 7});
  CHECK(places(2, {5, 5, 6}) == Numbers{5, 6});
  CHECK(places(2, {5, 9}) == Numbers{5, 9});  // numbers of no one message: by rank
  CHECK(places(1, {5, 6}) == Numbers{5});     // one too many
  CHECK(places(2, {}) == Numbers{0, 0});
  CHECK(places(0, {5}) == Numbers{});
}

TEST_CASE("ids are the provider's own where they can be, and always unique") {
  WireCallIds ids;
  const Message seventh = result(7);
  CHECK(ids.next("toolu_1", &seventh) == "toolu_1");
  CHECK(ids.next("toolu_1", &seventh) == "call_7");
  CHECK(ids.next("bad id", &seventh) == "call_7_2");
  CHECK(ids.next("", nullptr) == "call_4");
  CHECK(ids.next("call_5", nullptr) == "call_5");
  CHECK(ids.next(std::string(65, 'x'), nullptr) == "call_6");
  CHECK(ids.next(std::string(64, 'x'), nullptr) == std::string(64, 'x'));
}

}  // namespace
}  // namespace pawl::provider
