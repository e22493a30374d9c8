#include "pawl/adapter/trust/trust_store.h"

#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/temp_directory.h"

namespace pawl {

TEST_CASE("a store keeps its book, and the texts that the book needs") {
  const TempDirectory directory;
  const TrustStore store(directory / "state/trust");
  CHECK_FALSE(store.exists());
  const auto lock = store.lock();
  REQUIRE(lock);
  TrustBook book;
  book.set({"/w/a", sha256("old"), 1});
  store.keep_text(sha256("old"), "old");
  store.keep_text(sha256("other"), "other");
  REQUIRE(store.save(book));

  CHECK(store.exists());
  CHECK(store.load().value() == book);
  CHECK(store.text_of(sha256("old")) == "old");
  CHECK_FALSE(store.text_of(sha256("other")));
}

TEST_CASE("a note lives as long as somebody holds it") {
  const TempDirectory directory;
  const TrustStore store(directory / "trust");
  const auto lock = store.lock();
  REQUIRE(lock);
  using Owner = TrustStore::Found::Owner;
  {
    const auto live = store.add_live({{"r", {"/w"}, 1, 0}, {}});
    REQUIRE(live);
    REQUIRE(store.live().value().size() == 1);
    CHECK(store.live().value().front().owner == Owner::lives);
  }
  const auto left = store.live().value();
  REQUIRE(left.size() == 1);
  CHECK(left.front().owner == Owner::gone);
  store.remove_live(left.front().path);
  CHECK(store.live().value().empty());
}

TEST_CASE("a damaged book or note is refused, and says what to do") {
  const TempDirectory directory;
  const TrustStore store(directory / "trust");
  const auto lock = store.lock();
  REQUIRE(lock);
  std::ofstream(directory / "trust/book.jsonl") << "{}\n";
  REQUIRE_FALSE(store.load());
  CHECK(store.load().error().message.find("then remove the file") != std::string::npos);
  std::ofstream(directory / "trust/live/x") << "";
  CHECK_FALSE(store.live());
}

}  // namespace pawl
