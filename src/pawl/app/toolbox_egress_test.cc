#include "pawl/app/toolbox_egress.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

EgressEvent event_of(EgressEvent::Verdict verdict, std::string target, std::string detail) {
  return {verdict, std::move(target), std::move(detail)};
}

TEST_CASE("what the guard decided stands in the call's result, once") {
  EgressNotes notes;
  const EgressSink sink = notes.sink();
  CHECK(notes.joined_to(R"({"ok":true})", 1'000) == R"({"ok":true})");
  sink(event_of(EgressEvent::Verdict::allowed, "a.test:443", "93.184.216.34"));
  sink(event_of(EgressEvent::Verdict::refused, "b.test:443", "not listed"));
  CHECK(
      notes.joined_to(R"({"ok":true})", 1'000) ==
      R"({"ok":true,"egress":[{"target":"a.test:443","verdict":"allowed","detail":"93.184.216.34"},)"
      R"({"target":"b.test:443","verdict":"refused","detail":"not listed"}]})");
  CHECK(notes.joined_to(R"({"ok":true})", 1'000) == R"({"ok":true})");
}

TEST_CASE("a result that is no object becomes one, and the notes are bounded") {
  EgressNotes notes;
  const EgressSink sink = notes.sink();
  for (std::size_t i = 0; i < kEgressNotesMax + 5; ++i) {
    sink(event_of(EgressEvent::Verdict::unresolved, "x:1", std::string(10'000, 'y')));
  }
  const std::string joined = notes.joined_to("plain", 100'000);
  CHECK(joined.starts_with(R"({"output":"plain","egress":[)"));
  CHECK(joined.ends_with(R"("egress_left_out":5})"));
  CHECK(joined.size() < kEgressNotesMax * 300);

  sink(event_of(EgressEvent::Verdict::refused, "x:1", "no"));
  CHECK(notes.joined_to("plain", 10) == "plain");
}

}  // namespace
}  // namespace pawl
