#include "pawl/surface/cli/run_options.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

Arguments given(std::vector<std::pair<std::string, std::string>> options) {
  Arguments arguments;
  for (auto& [name, value] : options) arguments.values[name].push_back(value);
  return arguments;
}

}  // namespace

TEST_CASE("limits of options replace those of the charter, one by one") {
  const Arguments parsed = given({{"steps", "7"}, {"time", "2m"}, {"bytes-in", "1KiB"}});
  Limits charter;
  charter.tokens = 5;

  const auto limits = limits_with_options(parsed, charter, "USD");

  REQUIRE(limits);
  Limits expected = charter;
  expected.steps = 7;
  expected.time_ms = 120'000;
  expected.bytes_in = 1024;
  CHECK(*limits == expected);
}

TEST_CASE("limits that are no numbers are refused by name") {
  for (const char* bad : {"0", "-1", "x", "1.5", "", "1000001", "99999999999999999999"}) {
    const auto limits = limits_with_options(given({{"steps", bad}}), Limits{}, "USD");
    REQUIRE_FALSE(limits);
    CHECK(limits.error().code == ErrorCode::invalid_argument);
    CHECK(limits.error().message.find("--steps") != std::string::npos);
  }
  CHECK_FALSE(limits_with_options(given({{"time", "366d"}}), Limits{}, "USD"));
  CHECK_FALSE(limits_with_options(given({{"bytes-in", "2048GiB"}}), Limits{}, "USD"));
  CHECK_FALSE(parse_duration_option("time", "10 minutes"));
  CHECK_FALSE(parse_bytes_option("bytes-in", "10 MB"));
}

constexpr const char* kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST_CASE("a trace parent is what W3C says, and nothing else") {
  CHECK(is_trace_parent(kTrace));
  for (const char* text : {"", "t", "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
                           "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                           "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                           "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                           "00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01"}) {
    CAPTURE(text);
    CHECK_FALSE(is_trace_parent(text));
  }
}

TEST_CASE("identity, session and trace reach the invocation; the user stays who started it") {
  const auto invocation = invocation_of(given({{"tenant", "acme"},
                                               {"on-behalf-of", "ann"},
                                               {"session", "s"},
                                               {"trace-parent", kTrace}}),
                                        Limits{}, "USD", "somebody");

  REQUIRE(invocation);
  CHECK((*invocation)->tenant() == "acme");
  CHECK((*invocation)->identity() == "ann");
  CHECK((*invocation)->session_id() == "s");
  CHECK((*invocation)->trace_parent() == kTrace);
  CHECK((*invocation)->started_by() == "somebody");
}

TEST_CASE("variables and limits reach the invocation") {
  Arguments arguments = given({{"var", "a=1"}, {"var", "b=x=y"}, {"tokens", "9"}});

  const auto invocation = invocation_of(arguments, Limits{}, "USD", "somebody");

  REQUIRE(invocation);
  CHECK((*invocation)->identity() == "somebody");
  CHECK((*invocation)->variables() == std::map<std::string, std::string>{{"a", "1"}, {"b", "x=y"}});
  CHECK((*invocation)->resource_limits()->tokens == 9);
  CHECK_FALSE(invocation_of(given({{"var", "nonsense"}}), Limits{}, "USD", "somebody"));
}

}  // namespace pawl
