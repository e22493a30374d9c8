// docs/events.md is a promise to programs: nothing the printer writes may be missing from it.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "pawl/kernel/decisions.h"

namespace pawl {
namespace {

// The rows of the tables, by the word they begin with.
std::map<std::string, std::string> documented() {
  const char* root = std::getenv("PAWL_SOURCE_DIR");
  REQUIRE(root != nullptr);
  std::ifstream file(std::string(root) + "/docs/events.md");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| `")) continue;
    rows[line.substr(3, line.find('`', 3) - 3)] = line;
  }
  return rows;
}

template <class Fact>
void check_row(const std::map<std::string, std::string>& rows, bool with_instance) {
  const auto row = rows.find(std::string(Fact::kName));
  REQUIRE_MESSAGE(row != rows.end(), std::string(Fact::kName));
  const Fact fact{};
  Fact::fields(fact, [&](const char* key, const auto&) {
    const std::string name = key;
    // Part of every line's head, or (unrecognised) of no use to a reader.
    if (!with_instance && (name == "instance" || name == "run")) return;
    if (Fact::kName == "unrecognised") return;
    CHECK_MESSAGE(row->second.find("`" + name + "`") != std::string::npos, std::string(Fact::kName)
                                                                               << " " << name);
  });
}

template <class Variant>
struct Alternatives;
template <class... Facts>
struct Alternatives<std::variant<Facts...>> {
  static void check(const std::map<std::string, std::string>& rows, bool with_instance) {
    (check_row<Facts>(rows, with_instance), ...);
  }
};

}  // namespace

TEST_CASE("every event, decision and effect is documented with its fields") {
  const auto rows = documented();
  Alternatives<AnyEvent>::check(rows, false);
  Alternatives<AnyDecision>::check(rows, true);
  Alternatives<AnyEffect>::check(rows, true);
}

}  // namespace pawl
