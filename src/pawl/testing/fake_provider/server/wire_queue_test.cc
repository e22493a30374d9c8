#include "pawl/testing/fake_provider/server/wire_queue.h"

#include <doctest/doctest.h>

namespace pawl::fake {
namespace {

using Writes = std::vector<std::string>;

Writes writes(std::vector<WirePiece> pieces, std::size_t bytes_enough = 100) {
  WireQueue queue;
  queue.add(std::move(pieces));
  Writes out;
  for (std::string write; !queue.empty() && out.size() < 20; out.push_back(write)) {
    queue.take(write, bytes_enough);
  }
  return out;
}

TEST_CASE("pieces that need not wait go out together, up to a size") {
  CHECK(writes({{"a"}, {"b"}, {"c", 5}, {"d"}}) == Writes{"ab", "cd"});
  CHECK(writes({{"aaa"}, {"bbb"}, {"ccc"}}, 4) == Writes{"aaabbb", "ccc"});
}

TEST_CASE("a piece is sent as often as it says, each time after its delay") {
  CHECK(writes({{"a", 0, 3}}) == Writes{"aaa"});
  CHECK(writes({{"a", 1, 3}, {"b"}}) == Writes{"a", "a", "ab"});
  CHECK(writes({{"a", 1, kForEver}}).size() == 20);
}

TEST_CASE("a piece in steps is a write a step") {
  CHECK(writes({{"x"}, {"abcde", 0, 1, 2}, {"y"}}) == Writes{"x", "ab", "cd", "e", "y"});
  CHECK(writes({{"ab", 0, 2, 1}}) == Writes{"a", "b", "a", "b"});
}

TEST_CASE("what is added later comes later, and clearing leaves nothing") {
  WireQueue queue;
  queue.add({{"a", 7}});
  queue.add({{"b"}});
  CHECK(queue.delay_ms() == 7);
  std::string write;
  queue.take(write, 100);
  CHECK(write == "ab");
  CHECK(queue.empty());
  queue.add({{"c"}});
  CHECK(!queue.empty());
  queue.clear();
  CHECK(queue.empty());
}

}  // namespace
}  // namespace pawl::fake
