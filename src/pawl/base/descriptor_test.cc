#include "pawl/base/descriptor.h"

#include <doctest/doctest.h>
#include <fcntl.h>

namespace pawl {
namespace {

int open_one() {
  const int number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  REQUIRE(number >= 0);
  return number;
}
bool is_open(int number) {
  return ::fcntl(number, F_GETFD) != -1;
}

TEST_CASE("a descriptor is closed by its last owner, once") {
  const int number = open_one();
  Descriptor owner(number);
  {
    Descriptor other = std::move(owner);
    CHECK(!owner);  // NOLINT(bugprone-use-after-move): what is left of it is promised
    CHECK(other.number() == number);
    owner = std::move(other);
  }
  CHECK(is_open(number));
  const int second = open_one();
  owner.reset(second);
  CHECK(!is_open(number));
  CHECK(owner.number() == second);
  owner = Descriptor();
  CHECK(!is_open(second));
}

TEST_CASE("a descriptor that was given away stays open") {
  Descriptor owner(open_one());
  const int number = owner.release();
  CHECK(!owner);
  owner.reset();
  CHECK(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace pawl
