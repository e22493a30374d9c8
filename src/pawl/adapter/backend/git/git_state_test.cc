#include "pawl/adapter/backend/git/git_state.h"

#include <doctest/doctest.h>

namespace pawl::git {
namespace {

const std::string kOne(40, '1');
const std::string kTwo(40, '2');

std::string printed(const std::string& refs, const std::string& head, const std::string& index) {
  return refs + std::string(1, '\0') + head + std::string(1, '\0') + index;
}

TEST_CASE("a state is read from what git prints") {
  const std::string index = "100644 " + kOne + " 0\ta file" + std::string(1, '\0');
  const auto state = parse_state(
      printed(kOne + " refs/heads/main\n" + kTwo + " refs/tags/v1\n", "refs/heads/main\n", index));
  REQUIRE(state);
  CHECK(state->refs == Refs{{"refs/heads/main", kOne}, {"refs/tags/v1", kTwo}});
  CHECK(state->head_object() == kOne);
  std::string_view rest = state->index;
  const auto entry = take_index_entry(rest);
  REQUIRE(entry);
  CHECK(entry->path() == "a file");
  CHECK(entry->object == kOne);
  CHECK(rest.empty());
}

TEST_CASE("a detached HEAD is an object, and an unborn branch has none") {
  CHECK(parse_state(printed("", kTwo + "\n", ""))->head_object() == kTwo);
  CHECK(parse_state(printed("", "refs/heads/main\n", ""))->head_object().empty());
}

TEST_CASE("what git could not have printed is not believed") {
  CHECK(!parse_state("refs"));
  CHECK(!parse_state(std::string("a\0b", 3)));
  const auto state = parse_state(
      printed(kOne + " refs/heads/a..b\nx refs/heads/c\n" + kOne + " ../../config\n", "/x", ""));
  REQUIRE(state);
  CHECK(state->refs.empty());
  CHECK(state->head.empty());
  for (const std::string& bad : {"100644 " + kOne + " 0\ta", "100644 x 0\ta" + std::string(1, '\0'),
                                 "040000 " + kOne + " 0\ta" + std::string(1, '\0'),
                                 "100644 " + kOne + " 7\ta" + std::string(1, '\0')}) {
    std::string_view rest = bad;
    CHECK_MESSAGE(!take_index_entry(rest), bad);
  }
  std::string many;
  for (std::size_t i = 0; i <= kRefsMax; ++i)
    many += kOne + " refs/tags/" + std::to_string(i) + "\n";
  CHECK(!parse_state(printed(many, "", "")));
}

TEST_CASE("what both sides agreed on is read back") {
  const Agreed agreed{{{"refs/heads/main", kOne}}, "refs/heads/main", digest_of_index("x")};
  CHECK(*parse_agreed(agreed_text(agreed)) == agreed);
  CHECK(!parse_agreed("something else"));
}

}  // namespace
}  // namespace pawl::git
