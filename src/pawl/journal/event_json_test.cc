#include "pawl/journal/event_json.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

TEST_CASE("an event of a later version has one type in its line") {
  const RecordView view(Unrecognised{1'000, "from a later version"}, Stamp{});
  const std::string line = event_json(view, nullptr);
  const std::size_t first = line.find("\"type\":");
  CHECK(line.find("\"type\":\"unrecognised\"") == first);
  CHECK(line.find("\"type\":", first + 1) == std::string::npos);
  CHECK(line.find("\"body\":\"from a later version\"") != std::string::npos);
}

}  // namespace
}  // namespace pawl
