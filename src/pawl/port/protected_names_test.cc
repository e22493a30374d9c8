#include "pawl/port/protected_names.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace pawl {
namespace {

std::string row_of(std::string_view label) {
  const char* source = std::getenv("PAWL_SOURCE_DIR");  // NOLINT(concurrency-mt-unsafe)
  std::ifstream file(std::string(source == nullptr ? "." : source) + "/docs/sandbox.md");
  const std::string beginning = "| " + std::string(label) + " | ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(beginning)) return line.substr(beginning.size());
  }
  return {};
}

std::string list(NameClass kind, NameReach reach) {
  std::string names;
  for (const ProtectedName& name : kProtectedNames) {
    if (name.kind != kind || name.reach != reach) continue;
    names += (names.empty() ? "`" : ", `") + std::string(name.path) + "`";
  }
  return names.empty() ? "-" : names;
}

TEST_CASE("the document has the names of the table, class by class") {
  const std::pair<const char*, NameClass> rows[] = {{"not written", NameClass::never_written},
                                                    {"secret", NameClass::secret},
                                                    {"ask", NameClass::ask}};
  for (const auto& [label, kind] : rows) {
    CAPTURE(label);
    CHECK(row_of(label) ==
          list(kind, NameReach::places) + " | " + list(kind, NameReach::anywhere) + " |");
  }
}

TEST_CASE("a name is in the table once, plain, and an unknown one holds anywhere") {
  std::set<std::string_view> seen;
  for (const ProtectedName& name : kProtectedNames) {
    CHECK(seen.insert(name.path).second);
    CHECK(name.path.starts_with('.'));
    CHECK_FALSE(name.path.ends_with('/'));
  }
  CHECK(reach_of(".config") == NameReach::places);
  CHECK(reach_of("scripts/check.sh") == NameReach::anywhere);
  CHECK(names_of(NameClass::ask).size() == 4);
}

}  // namespace
}  // namespace pawl
