#include "pawl/kernel/tree_facts.h"

#include "pawl/kernel/command_facts.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

template <class E>
std::string words() {
  std::string all;
  for (std::uint8_t i = 0; i < kCount<E>; ++i) all += std::string(name(static_cast<E>(i))) + " ";
  return all;
}

TEST_CASE("the words for how an instance leaves and ends are those of the documents") {
  CHECK(words<LeaveKind>() == "transition cede suspend ");
  CHECK(words<LeaveBy>() == "reply command ");
  CHECK(words<CommandDrive>() == "driven undriven ");
  CHECK(words<EndedHow>() == "ceded failed stopped cancelled ");
}

}  // namespace
}  // namespace pawl
