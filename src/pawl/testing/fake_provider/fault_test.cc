#include "pawl/testing/fake_provider/fault.h"

#include <doctest/doctest.h>

#include <set>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/testing/fake_provider/script_reader.h"

namespace pawl::fake {
namespace {

FaultSpec read(const std::string& text, std::string* said = nullptr) {
  const DocumentResult document = parse_yaml(text);
  REQUIRE_MESSAGE(document.root, text);
  std::vector<Fault> faults;
  FaultSpec spec = read_fault(*document.root, faults, "it");
  if (said != nullptr) {
    *said = to_string(faults, "f");
  } else {
    CHECK_MESSAGE(faults.empty(), to_string(faults, "f"));
  }
  return spec;
}

TEST_CASE("every kind has a name of its own, and is read by it") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    CHECK(names.insert(name(kind)).second);
    CHECK(read(std::string(name(kind))).kind == kind);
    CHECK(read("{kind: " + std::string(name(kind)) + "}").kind == kind);
  }
}

TEST_CASE("sizes, counts and times are read with their units") {
  const FaultSpec spec = read("{kind: giant_line, bytes: 2MiB, count: 3, every: 10ms}");
  CHECK(spec.bytes == 2U << 20U);
  CHECK(spec.count == 3);
  CHECK(spec.every_ms == 10);
  CHECK(status_of(read("{kind: error_event}")) == 529);
  CHECK(status_of(read("error_event")) == 529);
  CHECK(status_of(read("status")) == 429);
  CHECK(status_of(read("{kind: error_event, status: 500}")) == 500);
  CHECK(read("{status: 429, retry_after: -1}").retry_after == "-1");
  CHECK(read("{status: 429, retry_after: ''}").retry_after == "");
  CHECK(!read("429").retry_after);
}

TEST_CASE("what makes no sense is said") {
  std::string said;
  for (const char* text :
       {"200", "stal", "[]", "{}", "{kind: stall, after: 1}", "{kind: stall, after_deltas: -1}",
        "{status: 700}", "{kind: 3}", "{kind: stall, after_deltas: 1, after_bytes: 1}"}) {
    said.clear();
    read(text, &said);
    CHECK_MESSAGE(!said.empty(), text);
  }
}

}  // namespace
}  // namespace pawl::fake
