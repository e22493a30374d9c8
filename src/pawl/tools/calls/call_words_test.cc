#include "pawl/tools/calls/call_words.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace pawl {
namespace {

bool has(const CallWords& words, std::string_view word) {
  return std::find(words.all().begin(), words.all().end(), word) != words.all().end();
}

TEST_CASE("a text is itself, its pieces, and what a shell makes of its quotes") {
  CallWords words;
  words.add_text("sh \"my b\"uild.sh >'a b' x=y\\ z \"it's\" 'tail \\");
  for (const char* word : {"sh", "my build.sh", "a b", "y z", "it's", "tail \\"}) {
    CAPTURE(word);
    CHECK(has(words, word));
  }
  CHECK(has(words, "sh \"my b\"uild.sh >'a b' x=y\\ z \"it's\" 'tail \\"));
}

TEST_CASE("a name behind an option, or one of several") {
  CallWords words;
  words.add("-nfa.awk");
  words.add("@list");
  words.add("one:two,{three}");
  for (const char* word : {"-nfa.awk", "a.awk", "list", "one", "two", "three"}) {
    CAPTURE(word);
    CHECK(has(words, word));
  }
  CallWords longer;
  longer.add("--long");
  CHECK(longer.all() == std::vector<std::string>{"--long"});
}

TEST_CASE("every string of the arguments, each word once, and no more than so many") {
  CallWords words;
  words.add_all(*parse_json(R"({"a":["x","x",{"b":"y"}],"c":7})"));
  CHECK(words.all() == std::vector<std::string>{"x", "y"});
  for (std::size_t i = words.all().size(); i < kWordsLookedUpMax; ++i) {
    words.add("w" + std::to_string(i));
  }
  words.add("x");
  CHECK_FALSE(words.too_many());
  words.add("one more");
  CHECK(words.too_many());
}

}  // namespace
}  // namespace pawl
