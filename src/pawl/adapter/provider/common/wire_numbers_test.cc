#include "pawl/adapter/provider/common/wire_numbers.h"

#include <doctest/doctest.h>

namespace pawl::provider {
namespace {

TEST_CASE("a count is an integer that somebody can have used") {
  const auto count = [](const char* json) {
    FlatJson value;
    return token_count(*value.read(json));
  };
  CHECK(count("0") == 0);
  CHECK(count("12") == 12);
  CHECK(count("1.0") == 1);
  CHECK(count("9007199254740992") == kTokenCountMax);
  for (const char* json : {"-5", "9007199254740993", "9223372036854775808", "1e300", "1.5", "\"3\"",
                           "null", "[]", "true"}) {
    CHECK(count(json) == std::nullopt);
  }
  CHECK(token_count(FlatValue()) == std::nullopt);
}

TEST_CASE("counters only rise") {
  std::uint64_t counter = 5;
  for (const char* json : {"3", "-1", "null", "1e300"}) {
    FlatJson value;
    raise_count(counter, *value.read(json));
    CHECK(counter == 5);
  }
  FlatJson more;
  raise_count(counter, *more.read("8"));
  CHECK(counter == 8);
}

TEST_CASE("thousandths as decimals") {
  CHECK(milli_text(0) == "0");
  CHECK(milli_text(700) == "0.7");
  CHECK(milli_text(5) == "0.005");
  CHECK(milli_text(1'000) == "1");
  CHECK(milli_text(1'250) == "1.25");
}

}  // namespace
}  // namespace pawl::provider
