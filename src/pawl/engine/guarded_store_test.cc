#include "pawl/engine/guarded_store.h"

#include <doctest/doctest.h>

#include <stdexcept>

namespace pawl {
namespace {

// Answers as often as it is told, and may throw after it.
class RudeJournal final : public Journal {
 public:
  Result<RunLease> acquire(const RunId&) override { throw std::runtime_error("no"); }
  Status quarantine(const RunId&, const std::string&) override { throw 7; }
  void append(Append, StatusCallback done) override {
    for (int i = 0; i < answers; ++i) done(ok());
    if (throws) throw std::runtime_error("no");
  }

  int answers = 1;
  bool throws = false;
};

TEST_CASE("whoever appends is answered once, whatever the store does") {
  RudeJournal rude;
  GuardedStore store({&rude, nullptr, nullptr, nullptr});
  for (const int answers : {0, 1, 3}) {
    for (const bool throws : {false, true}) {
      CAPTURE(answers);
      CAPTURE(throws);
      rude.answers = answers;
      rude.throws = throws;
      std::vector<bool> heard;
      store.append({}, [&](const Status& status) { heard.push_back(status.has_value()); });
      if (answers == 0 && !throws) {
        CHECK(heard.empty());  // it may still come
        continue;
      }
      REQUIRE(heard.size() == 1);
      CHECK(heard[0] == (answers > 0));
    }
  }
}

TEST_CASE("what a store throws is unavailability, with its words") {
  RudeJournal rude;
  GuardedStore store({&rude, nullptr, nullptr, nullptr});
  const auto lease = store.acquire(RunId{"r"});
  REQUIRE_FALSE(lease);
  CHECK(lease.error().code == ErrorCode::unavailable);
  CHECK(lease.error().message == "the store threw: no");
  CHECK(store.quarantine(RunId{"r"}, "").error().message == "the store threw");
  CHECK(store.read(RunId{"r"}, 0, 1).error().message == "this store cannot be read");
}

}  // namespace
}  // namespace pawl
