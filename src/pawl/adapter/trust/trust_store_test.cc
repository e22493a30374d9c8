#include "pawl/adapter/trust/trust_store.h"

#include <doctest/doctest.h>

#include <filesystem>
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

TEST_CASE("a bit that flips in the book or in a note is noticed") {
  const TempDirectory directory;
  const TrustStore store(directory / "trust");
  const auto lock = store.lock();
  REQUIRE(lock);
  TrustBook book;
  book.set({"/w/a", sha256("a"), 5, TrustedFile::State::changed, "run-1"});
  book.add({"run-1", {"/w"}, 10, 99});
  REQUIRE(store.save(book));
  const auto live = store.add_live({{"r", {"/w"}, 1, 0}, {}});
  REQUIRE(live);
  const auto flip = [](const std::string& path, std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  };
  const std::string path = directory / "trust/book.jsonl";
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
  for (std::streamoff at = 0; at < size; ++at) {
    flip(path, at);
    CHECK_FALSE(store.load());
    flip(path, at);
  }
  CHECK(store.load().value() == book);
  flip(live->path, static_cast<std::streamoff>(std::filesystem::file_size(live->path)) - 5);
  REQUIRE_FALSE(store.live());
  CHECK(store.live().error().message.find("then remove the file") != std::string::npos);
}

}  // namespace pawl
