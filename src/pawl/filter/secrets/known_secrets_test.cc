#include "pawl/filter/secrets/known_secrets.h"

#include <doctest/doctest.h>

#include <thread>

namespace pawl {

TEST_CASE("values that would shred ordinary text are refused, with advice") {
  KnownSecrets known;
  CHECK(known.add("A", "test") == Learned::too_short);
  CHECK(known.add("A", "") == Learned::too_short);
  CHECK(known.add("A", "password") == Learned::too_common);
  CHECK(known.add("A", "ChangeMe") == Learned::too_common);
  CHECK(known.add("A", "aaaaaaaaaaaa") == Learned::too_common);
  CHECK(known.add("A", std::string(kLearnedSecretBytesMax + 1, 'x')) == Learned::too_long);
  CHECK(known.empty());
  for (const Learned one :
       {Learned::too_short, Learned::too_common, Learned::too_long, Learned::full}) {
    CHECK_FALSE(advice_on(one).empty());
  }
  CHECK(advice_on(Learned::added).empty());
  CHECK(advice_on(Learned::known).empty());
}

TEST_CASE("a changed value is added to the old one, under the same name") {
  KnownSecrets known;
  CHECK(known.add("KEY", "first-value") == Learned::added);
  CHECK(known.add("KEY", "second-value") == Learned::added);
  CHECK(known.add("OTHER", "first-value") == Learned::known);
  CHECK(known.size() == 2);
  const auto snapshot = known.snapshot();
  CHECK(snapshot->names == std::vector<std::string>{"KEY", "KEY"});
  CHECK(snapshot == known.snapshot());
  known.add("THIRD", "third-value");
  CHECK(snapshot != known.snapshot());
}

TEST_CASE("the number and the size of values are bounded") {
  KnownSecrets known;
  Learned last = Learned::added;
  std::size_t added = 0;
  for (std::size_t i = 0; last == Learned::added && i <= kLearnedSecretsMax; ++i) {
    last = known.add("A", "some-value-" + std::to_string(i));
    if (last == Learned::added) ++added;
  }
  CHECK(last == Learned::full);
  CHECK(added == known.size());
  CHECK(added == kLearnedSecretsMax);

  KnownSecrets large;
  for (std::size_t i = 0; i < kLearnedBytesMax / kLearnedSecretBytesMax; ++i) {
    std::string value = "some-value-" + std::to_string(i);
    value.resize(kLearnedSecretBytesMax, 'x');
    CHECK(large.add("A", value) == Learned::added);
  }
  CHECK(large.add("A", "one-more-value") == Learned::full);
}

TEST_CASE("values are learned and looked for in many threads") {
  KnownSecrets known;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&known, thread] {
      for (int i = 0; i < 20; ++i) {
        const std::string value = "value-of-" + std::to_string(thread) + "-" + std::to_string(i);
        known.add("A", value);
        CHECK(known.snapshot()->automaton.search(value).spans.size() == 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(known.size() == 80);
}

}  // namespace pawl
