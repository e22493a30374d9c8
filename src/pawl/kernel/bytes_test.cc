// The primitives of the encoding.
#include "pawl/kernel/bytes.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

std::string encoded(std::uint64_t value) {
  ByteWriter out;
  out.number(value);
  return out.take();
}

std::optional<std::uint64_t> decoded(std::string_view bytes) {
  ByteReader in(bytes);
  const std::uint64_t value = in.number();
  if (in.failed() || !in.at_end()) return std::nullopt;
  return value;
}

using namespace std::string_literals;

TEST_CASE("numbers take seven bits a byte, the lowest first") {
  CHECK(encoded(0) == "\x00"s);
  CHECK(encoded(127) == "\x7F"s);
  CHECK(encoded(128) == "\x80\x01"s);
  CHECK(encoded(300) == "\xAC\x02"s);
  CHECK(encoded(UINT64_MAX) == "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s);
}

TEST_CASE("numbers of every length survive") {
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << bits, (std::uint64_t{1} << bits) - 1, ~(std::uint64_t{1} << bits)}) {
      CHECK(decoded(encoded(value)) == value);
    }
  }
}

TEST_CASE("only the shortest form of a number is one") {
  CHECK(decoded("\x80\x00"s) == std::nullopt);
  CHECK(decoded("\xFF\x00"s) == std::nullopt);
  CHECK(decoded("\x80\x80\x00"s) == std::nullopt);
  CHECK(decoded("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"s) == std::nullopt);
  CHECK(decoded("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x81\x00"s) == std::nullopt);
  CHECK(decoded("\x80"s) == std::nullopt);
  CHECK(decoded(""s) == std::nullopt);
}

TEST_CASE("signed numbers are zigzag: small ones of both signs are short") {
  for (const auto& [value, bytes] : std::vector<std::pair<std::int64_t, std::string>>{
           {0, "\x00"s}, {-1, "\x01"s}, {1, "\x02"s}, {-64, "\x7F"s}, {64, "\x80\x01"s}}) {
    ByteWriter out;
    out.put(value);
    CHECK(out.view() == bytes);
  }
  for (const std::int64_t value : {INT64_MIN, INT64_MIN + 1, INT64_MAX}) {
    ByteWriter out;
    out.put(value);
    ByteReader in(out.view());
    std::int64_t back = 0;
    in.take(back);
    CHECK(back == value);
    CHECK(!in.failed());
  }
}

template <class T>
bool is_refused(const std::string& bytes) {
  ByteReader in(bytes);
  T value{};
  in.take(value);
  return in.failed();
}

TEST_CASE("numbers that do not fit their type are refused") {
  CHECK(is_refused<std::uint32_t>(encoded(1ULL << 32U)));
  CHECK(!is_refused<std::uint32_t>(encoded(UINT32_MAX)));
  CHECK(is_refused<InstanceId>(encoded(1ULL << 32U)));
  CHECK(!is_refused<CallId>(encoded(UINT64_MAX)));
}

TEST_CASE("words outside a vocabulary are refused") {
  CHECK(!is_refused<YieldReason>(encoded(7)));
  CHECK(is_refused<YieldReason>(encoded(8)));
  CHECK(is_refused<StopReason>(encoded(kCount<StopReason>)));
  CHECK(is_refused<YieldReason>(encoded(256)));
}

TEST_CASE("presence is 0 or 1, and an alternative is one of those there are") {
  CHECK(!is_refused<std::optional<std::uint64_t>>("\x00"s));
  CHECK(!is_refused<std::optional<std::uint64_t>>("\x01\x05"s));
  CHECK(is_refused<std::optional<std::uint64_t>>("\x02\x05"s));
  CHECK(!is_refused<Content>("\x00\x01x"s));
  CHECK(is_refused<Content>("\x02"s));
}

TEST_CASE("texts and lists cannot be longer than what is left") {
  CHECK(is_refused<std::string>("\x03xy"s));
  CHECK(is_refused<std::vector<std::uint64_t>>("\x03\x01\x01"s));
  CHECK(is_refused<std::vector<std::uint64_t>>(encoded(UINT64_MAX)));
  CHECK(is_refused<Digest>(std::string(31, 'x')));
}

TEST_CASE("after a failure nothing more is read") {
  const std::string bytes = "\x80\x00\x05"s;
  ByteReader in(bytes);
  in.number();
  CHECK(in.failed());
  CHECK(in.at_end());
  CHECK(in.number() == 0);
}

}  // namespace
}  // namespace pawl
