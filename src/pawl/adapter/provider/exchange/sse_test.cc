#include "pawl/adapter/provider/exchange/exchange.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "pawl/base/rng.h"

namespace pawl::provider {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

// The pieces are `bytes` cut at `cuts`, which ascend.
Events split(WireSplitter& splitter, std::string_view bytes, const std::vector<std::size_t>& cuts) {
  Events events;
  const WireEventSink sink = [&](std::string_view type, std::string_view data) {
    events.emplace_back(type, data);
    return ok();
  };
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    CHECK(splitter.feed(bytes.substr(from, cut - from), sink));
    from = cut;
  }
  CHECK(splitter.feed(bytes.substr(from), sink));
  CHECK(splitter.finish(sink));
  return events;
}

Events sse(std::string_view bytes, const std::vector<std::size_t>& cuts = {}) {
  return split(*make_sse_splitter(), bytes, cuts);
}

Events lines(std::string_view bytes, const std::vector<std::size_t>& cuts = {}) {
  return split(*make_line_splitter(), bytes, cuts);
}

std::vector<std::size_t> every_byte(std::size_t length) {
  std::vector<std::size_t> cuts;
  for (std::size_t i = 1; i < length; ++i) cuts.push_back(i);
  return cuts;
}

std::string with_ends(std::string text, std::string_view end) {
  for (std::size_t at = 0; (at = text.find('\n', at)) != text.npos; at += end.size()) {
    text.replace(at, 1, end);
  }
  return text;
}

const std::string kStream =
    ": comment\n"
    "event: first\n"
    "data: one\n"
    "data:two\n"
    "data\n"
    "id: 7\n"
    "retry: 10\n"
    "unknown: x\n"
    "\n"
    "data:  a colon: and a space\n"
    "\n"
    "event: nothing\n"
    "\n"
    "data: é€😀\n"
    "\n"
    "data: never ended\n";
const Events kExpected = {{"first", "one\ntwo\n"}, {"", " a colon: and a space"}, {"", "é€😀"}};

TEST_CASE("sc-P14: every way to end lines, and a byte order mark, give the same events") {
  for (const std::string_view end : {"\n", "\r\n", "\r"}) {
    for (const std::string_view mark : {"", "\xEF\xBB\xBF"}) {
      const std::string bytes = std::string(mark) + with_ends(kStream, end);
      CHECK(sse(bytes) == kExpected);
      CHECK(sse(bytes, every_byte(bytes.size())) == kExpected);
      for (std::size_t cut = 1; cut < bytes.size(); ++cut) CHECK(sse(bytes, {cut}) == kExpected);
    }
  }
}

TEST_CASE("sc-P13: random pieces, also inside characters, give the same events") {
  Rng rng(1);
  const std::string bytes = with_ends(kStream, "\r\n");
  for (int round = 0; round < 500; ++round) {
    std::vector<std::size_t> cuts;
    for (std::size_t at = rng.below(9); at < bytes.size(); at += rng.below(9)) cuts.push_back(at);
    CHECK(sse(bytes, cuts) == kExpected);
  }
}

TEST_CASE("a byte order mark is one at the beginning only") {
  CHECK(sse("data: \xEF\xBB\xBF\n\n") == Events{{"", "\xEF\xBB\xBF"}});
  CHECK(sse("\n\xEF\xBB\xBF"
            "data: x\n\n")
            .empty());  // an unknown field
}

TEST_CASE("sc-P13: bytes that are not UTF-8 are replaced in the same way wherever they are cut") {
  const std::string bytes = "data: a\xFFz\xE2\x82\n\n";
  const Events expected = {{"", "a\uFFFDz\uFFFD"}};
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) CHECK(sse(bytes, {cut}) == expected);
}

TEST_CASE("messages without data are none, and the type does not outlive its message") {
  CHECK(sse("event: x\n\ndata: y\n\n") == Events{{"", "y"}});
  CHECK(sse("data\n\ndata:\n\n").empty());
  CHECK(sse("data:\ndata:\n\n") == Events{{"", "\n"}});
  CHECK(sse("") == Events{});
}

TEST_CASE("sc-P17: an event is bounded, in one line, in many and before its end") {
  const WireEventSink sink = [](std::string_view, std::string_view) { return ok(); };
  const auto feed = [&](const std::string& bytes) {
    auto splitter = make_sse_splitter(100);
    for (const char c : bytes) {
      const Status fed = splitter->feed(std::string_view(&c, 1), sink);
      if (!fed) return fed.error().code == ErrorCode::limit_exceeded;
    }
    return false;
  };
  CHECK(feed("data: " + std::string(200, 'x')));
  std::string many;
  for (int i = 0; i < 20; ++i) many += "data: 1234567\n";
  CHECK(feed(many));
  CHECK_FALSE(feed("data: " + std::string(90, 'x') + "\n\ndata: " + std::string(90, 'x') + "\n\n"));
  CHECK_FALSE(make_line_splitter(10)->feed("12345678901", sink));
}

TEST_CASE("an event of 1 MiB arrives whole") {
  const std::string text(1U << 20U, 'x');
  CHECK(sse("data: " + text + "\n\n") == Events{{"", text}});
}

TEST_CASE("the error of a sink ends the feeding") {
  int calls = 0;
  const WireEventSink sink = [&](std::string_view, std::string_view) -> Status {
    ++calls;
    return Error{ErrorCode::corrupt, "no"};
  };
  const Status fed = make_sse_splitter()->feed("data: a\n\ndata: b\n\n", sink);
  REQUIRE_FALSE(fed);
  CHECK(fed.error().message == "no");
  CHECK(calls == 1);
}

TEST_CASE("lines: ends, blanks and a last line without an end") {
  const std::string bytes = "{\"a\":1}\r\n\n  \n{\"b\":\"\rx\"}\n{\"c\":3}";
  const Events expected = {{"", "{\"a\":1}"}, {"", "{\"b\":\"\rx\"}"}, {"", "{\"c\":3}"}};
  CHECK(lines(bytes) == expected);
  CHECK(lines(bytes, every_byte(bytes.size())) == expected);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) CHECK(lines(bytes, {cut}) == expected);
}

}  // namespace
}  // namespace pawl::provider
