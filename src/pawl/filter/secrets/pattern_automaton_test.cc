#include "pawl/filter/secrets/pattern_automaton.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "pawl/base/rng.h"

namespace pawl {
namespace {

// Every byte that some occurrence covers, found the slow way.
std::vector<bool> covered_slowly(const std::vector<Pattern>& patterns, const std::string& text) {
  std::vector<bool> covered(text.size(), false);
  for (const Pattern& pattern : patterns) {
    for (std::size_t at = text.find(pattern.text); at != std::string::npos;
         at = text.find(pattern.text, at + 1)) {
      std::fill_n(covered.begin() + static_cast<std::ptrdiff_t>(at), pattern.text.size(), true);
    }
  }
  return covered;
}

std::size_t open_slowly(const std::vector<Pattern>& patterns, const std::string& text) {
  std::size_t open = 0;
  for (const Pattern& pattern : patterns) {
    for (std::size_t size = 1; size <= std::min(pattern.text.size(), text.size()); ++size) {
      if (text.ends_with(pattern.text.substr(0, size))) open = std::max(open, size);
    }
  }
  return open;
}

}  // namespace

TEST_CASE("occurrences are found, and overlapping ones are one span with the longest's id") {
  const PatternAutomaton automaton({{"abcdefgh", 1}, {"efghijklmn", 2}, {"abcdefghij", 3}});

  CHECK(automaton.search("").spans.empty());
  CHECK(automaton.search("abcdefg").spans.empty());
  CHECK(automaton.search("xabcdefghx").spans == std::vector<PatternSpan>{{{1, 9}, 1, 8}});
  CHECK(automaton.search("abcdefghabcdefgh").spans ==
        std::vector<PatternSpan>{{{0, 8}, 1, 8}, {{8, 16}, 1, 8}});
  CHECK(automaton.search("-abcdefghijklmn-").spans == std::vector<PatternSpan>{{{1, 15}, 3, 10}});
  CHECK(automaton.longest() == 10);
}

TEST_CASE("of patterns with the same text the first counts") {
  const PatternAutomaton automaton({{"abcdefgh", 7}, {"abcdefgh", 8}});
  CHECK(automaton.search("abcdefgh").spans.front().id == 7);
}

TEST_CASE("an automaton without patterns finds nothing") {
  const PatternAutomaton automaton({});
  const PatternSearch found = automaton.search("whatever there is in this text");
  CHECK(found.spans.empty());
  CHECK(found.open == 0);
}

TEST_CASE("random patterns over a small alphabet are found as by a slow search") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto word = [&rng](std::size_t size) {
      std::string text;
      for (std::size_t i = 0; i < size; ++i) text.push_back(static_cast<char>('a' + rng.below(2)));
      return text;
    };
    std::vector<Pattern> patterns;
    for (std::uint32_t id = 0; id < 6; ++id) patterns.push_back({word(8 + rng.below(8)), id});
    std::string text;
    while (text.size() < 200) {
      text += rng.below(3) == 0 ? patterns[rng.below(patterns.size())].text : word(rng.below(9));
    }

    const PatternSearch found = PatternAutomaton(patterns).search(text);

    std::vector<bool> covered(text.size(), false);
    for (const PatternSpan& span : found.spans) {
      for (std::size_t at = span.range.begin; at < span.range.end; ++at) covered[at] = true;
    }
    CHECK(covered == covered_slowly(patterns, text));
    CHECK(found.open == open_slowly(patterns, text));
  }
}

TEST_CASE("a text of nothing but beginnings is searched in linear time") {
  // With a search that began anew at each byte this would take 10^11 steps.
  const std::string almost(16'000, 'a');
  const PatternAutomaton automaton({{almost + "b", 1}});
  const std::string text(8'000'000, 'a');
  const PatternSearch found = automaton.search(text);
  CHECK(found.spans.empty());
  CHECK(found.open == almost.size());
}

}  // namespace pawl
