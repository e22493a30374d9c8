#include "pawl/run/conversation_memory.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

struct PartHolder final : ConversationMemory::Keeper {
  explicit PartHolder(ConversationMemory& memory) : part(memory, *this) {}
  void let_go() override { ++times; }
  int times = 0;
  ConversationMemory::Part part;
};

TEST_CASE("those that were used least recently let go first") {
  ConversationMemory memory(100);
  PartHolder a(memory);
  PartHolder b(memory);
  PartHolder c(memory);
  a.part.use(40);
  b.part.use(40);
  a.part.use(41);
  CHECK(memory.bytes() == 81);
  c.part.use(30);
  CHECK(b.times == 1);
  CHECK(a.times == 0);
  CHECK(memory.bytes() == 71);
  b.part.use(5);
  CHECK(memory.bytes() == 76);
  CHECK(b.times + c.times + a.times == 1);
}

TEST_CASE("what is too much alone is let go, and takes nothing from others") {
  ConversationMemory memory(100);
  PartHolder a(memory);
  PartHolder b(memory);
  a.part.use(90);
  b.part.use(101);
  CHECK(b.times == 1);
  CHECK(a.times == 0);
  CHECK(memory.bytes() == 90);
}

TEST_CASE("one run has a bound of its own, and what is gone counts no more") {
  ConversationMemory memory(4 * kKeptBytesOfARunMax);
  PartHolder a(memory);
  a.part.use(kKeptBytesOfARunMax + 1);
  CHECK(a.times == 1);
  {
    PartHolder b(memory);
    b.part.use(7);
    CHECK(memory.bytes() == 7);
  }
  CHECK(memory.bytes() == 0);
}

}  // namespace
}  // namespace pawl
