#include "pawl/adapter/provider/common/growing_text.h"

#include <doctest/doctest.h>

#include "pawl/base/rng.h"

namespace pawl::provider {
namespace {

std::string between(const GrowingText& text, std::size_t begin, std::size_t end) {
  HttpBody body;
  text.append_to(body, begin, end);
  return body.whole();
}

TEST_CASE("what was taken out of a growing text stays as it was, and costs no copy") {
  GrowingText text;
  text.append("first");
  HttpBody body;
  text.append_to(body, 0, 5);
  const char* const place = body.at(0).data();
  text.append(" second");
  CHECK(body.whole() == "first");
  HttpBody both;
  text.append_to(both, 0, text.size());
  CHECK(both.whole() == "first second");
  CHECK(both.at(0).data() == place);
}

TEST_CASE("every part of a growing text is what was appended there") {
  Rng rng(1);
  GrowingText text;
  std::string plain;
  for (int i = 0; i < 400; ++i) {
    const std::string more(rng.one_in(20) ? 5'000 : rng.below(90), static_cast<char>('a' + i % 26));
    text.append(more);
    plain += more;
    REQUIRE(text.size() == plain.size());
    const std::size_t begin = rng.below(plain.size() + 1);
    const std::size_t end = begin + rng.below(plain.size() - begin + 1);
    REQUIRE(between(text, begin, end) == plain.substr(begin, end - begin));
  }
  CHECK(text.bytes() >= plain.size());
  CHECK(text.bytes() < 3 * plain.size());
}

TEST_CASE("a long text has few pieces") {
  GrowingText text;
  for (int i = 0; i < 40'000; ++i) text.append(std::string(100, 'x'));
  HttpBody body;
  text.append_to(body, 0, text.size());
  CHECK(body.chunks().size() < 20);
}

}  // namespace
}  // namespace pawl::provider
