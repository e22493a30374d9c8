#include "pawl/adapter/backend/session/disk_watch.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "pawl/adapter/backend/session/backend_test_support.h"
#include "pawl/base/descriptor.h"
#include "tests/contract/backend_contract_support.h"

namespace pawl::backend {
namespace {

using Kind = BackendOutcome::Kind;
constexpr std::uint64_t kMiB = 1U << 20U;

BackendLimits limit_of(std::uint64_t bytes) {
  BackendLimits limits;
  limits.disk_bytes = bytes;
  return limits;
}

TEST_CASE("what others take of the disk is not held against a call") {
  const TempDirectory directory;
  FreeSpace left{100 * kMiB, 100'000};
  int asked = 0;
  DiskWatch watch({directory.path()}, limit_of(4 * kMiB), [&](const std::string&) {
    ++asked;
    return left;
  });
  left.bytes = 50 * kMiB;
  CHECK_FALSE(watch.is_exceeded({}));
  asked = 0;
  CHECK_FALSE(watch.is_exceeded({}));
  CHECK(asked == 1);  // the roots are not looked through again
}

TEST_CASE("what is new beneath the roots is, also many empty files and one without a name") {
  const TempDirectory directory;
  FreeSpace left{100 * kMiB, 100'000};
  const auto ask = [&](const std::string&) { return left; };
  DiskWatch bytes({directory.path()}, limit_of(4 * kMiB), ask);
  DiskWatch files({directory.path()}, limit_of(4 * kMiB), ask);
  left = {50 * kMiB, 50'000};
  contract::write_file(directory / "big", std::string(5 * kMiB, 'x'));
  CHECK(bytes.is_exceeded({}));
  const Descriptor held(::open((directory / "big").c_str(), O_RDONLY | O_CLOEXEC));
  std::filesystem::remove(directory / "big");
  CHECK(bytes.is_exceeded({::getpid()}));
  for (int i = 0; i < 1100; ++i) contract::write_file(directory / ("f" + std::to_string(i)), "");
  CHECK(files.is_exceeded({}));
}

TEST_CASE("a tree that is too deep to be looked through was made so") {
  const TempDirectory directory;
  FreeSpace left{100 * kMiB, 100'000};
  DiskWatch watch({directory.path()}, limit_of(4 * kMiB), [&](const std::string&) { return left; });
  std::string path = directory.path();
  for (int i = 0; i <= kNewFilesDepthMax; ++i) REQUIRE(::mkdir((path += "/d").c_str(), 0700) == 0);
  left.bytes = 50 * kMiB;
  CHECK(watch.is_exceeded({}));
}

// In memory, where the accounts of processes show nothing.
TEST_CASE("a disk cannot be filled by processes that are gone before anybody looks") {
  std::string place = "/dev/shm/pawl-disk-XXXXXX";
  for (const MakeBackend make : {&make_namespace_backend, &make_landlock_backend}) {
    if (!is_there(make) || ::access("/dev/shm", W_OK) != 0) continue;
    place = "/dev/shm/pawl-disk-XXXXXX";
    REQUIRE(::mkdtemp(place.data()) != nullptr);
    give_away(place);
    Bench bench(make);
    bench.context.working_directory = place;
    bench.context.write_roots = {place};
    bench.context.limits.disk_bytes = 4 * kMiB;
    const BackendOutcome outcome =
        bench.bash("for i in $(seq 40); do head -c 1M /dev/zero >f$i; done; sleep 20", 25'000);
    CHECK(outcome.kind == Kind::disk);
    CHECK(bench.bash("rm -f f*; for i in $(seq 2000); do : >e$i; done; sleep 20", 25'000).kind ==
          Kind::disk);
    bench.end();
    std::filesystem::remove_all(place);
  }
}

}  // namespace
}  // namespace pawl::backend
