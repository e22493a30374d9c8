#include "pawl/adapter/backend/session/call_output.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40U;

struct Kept {
  Kept() {
    std::filesystem::create_directories(directory / "run");
    std::filesystem::create_directories(directory / "other");
  }
  std::string run() const { return directory / "run"; }
  void fill(const std::string& name, std::size_t bytes) const {
    contract::write_file(directory / name, std::string(bytes, 'x'));
  }
  contract::ContractDirectory directory;
};

TEST_CASE("a run keeps no more than its bound, whatever earlier calls kept") {
  const Kept kept;
  kept.fill("run/before", 600);
  KeptSpace space(kept.run(), {1000, kPlenty});
  CHECK(space.take(300) == 300);
  CHECK(space.reason().empty());
  CHECK(space.take(300) == 100);
  CHECK(space.reason().find("a run keeps at most 1000 bytes") == 0);
  CHECK(space.take(1) == 0);
}

TEST_CASE("all runs together keep no more than the store's bound") {
  const Kept kept;
  kept.fill("other/before", 700);
  KeptSpace space(kept.run(), {kPlenty, 1000});
  CHECK(space.take(500) == 300);
  CHECK(space.reason().find("all runs together") == 0);
  // Another call of this process knows what this one took.
  KeptSpace next(kept.run(), {kPlenty, 1000});
  CHECK(next.take(1) == 0);
}

TEST_CASE("one call keeps 64 MiB at most") {
  const Kept kept;
  KeptSpace space(kept.run(), {kPlenty, kPlenty});
  CHECK(space.take(2 * kKeptCallBytesMax) == kKeptCallBytesMax);
  CHECK(space.reason() == "one call keeps at most 64 MiB");
}

TEST_CASE("the journal's part of a disk is a tenth, more of a small disk, and 1 GiB at most") {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;
  CHECK(disk_reserve(48 * kMebibyte) == 24 * kMebibyte);
  CHECK(disk_reserve(200 * kMebibyte) == 64 * kMebibyte);
  CHECK(disk_reserve(2000 * kMebibyte) == 200 * kMebibyte);
  CHECK(disk_reserve(100'000 * kMebibyte) == 1024 * kMebibyte);
}

TEST_CASE("a directory that cannot be looked at keeps nothing") {
  KeptSpace space("/no/such/store/run", {kPlenty, kPlenty});
  CHECK(space.take(1) == 0);
  CHECK(space.reason() == "the disk has too little space left");
}

TEST_CASE("files of a run count, and those of all runs, and nothing that links lead to") {
  const Kept kept;
  kept.fill("run/a", 10);
  kept.fill("run/b", 20);
  kept.fill("other/c", 40);
  std::filesystem::create_symlink(kept.run(), kept.directory / "linked");
  std::filesystem::create_symlink(kept.directory / "other/c", kept.run() + "/link");
  CHECK(bytes_kept_in(kept.run(), 1) == 30);
  CHECK(bytes_kept_in(kept.directory.path(), 2) == 70);
}

}  // namespace
}  // namespace pawl::backend
