// Attacks on what commands may only read, and on what is hidden from them. tests/landlock runs it
// with every version of Landlock: the mounts must hold without it.

#include <sys/stat.h>

#include "pawl/adapter/backend/session/attempts_test_support.h"
#include "pawl/adapter/backend/session/held_attempts_test.h"

namespace pawl::backend {
namespace {

using contract::read_file;
using contract::write_file;

constexpr const char* kGiven = "given\n";
constexpr const char* kHidden = "hidden\n";

// A workspace with a protected file and directory, secrets, a read root in it and one beside it.
struct HeldPlaces {
  explicit HeldPlaces(Bench& bench) {
    const std::string root = bench.directory.path();
    for (const char* name : {"/.config/x", "/.ssh", "/ref"}) {
      std::filesystem::create_directories(root + name);
    }
    read_only = {reference / "f", root + "/ref/f", root + "/.envrc", root + "/.config/x/f"};
    hidden = {root + "/.netrc", root + "/.ssh/key"};
    for (const std::string& path : read_only) write_file(path, kGiven);
    for (const std::string& path : hidden) write_file(path, kHidden);
    bench.context.read_roots = {reference.path(), root + "/ref"};
    bench.context.write_roots.push_back(second.path());
  }

  Words arguments() const {
    Words words = read_only;
    words.emplace_back(":");
    words.insert(words.end(), hidden.begin(), hidden.end());
    words.emplace_back(":");
    words.push_back(second.path());
    return words;
  }

  contract::ContractDirectory reference;
  contract::ContractDirectory second;
  Words read_only, hidden;
};

TEST_CASE("none of the attempts at what may only be read works behind namespaces") {
  if (!is_there(&make_namespace_backend)) return;
  Bench bench(&make_namespace_backend);
  const HeldPlaces places(bench);
  const Results results = run_attempts(bench, kHeldAttempts, places.arguments());
  CHECK(results.size() >= 170);
  check_refused(results);
  bench.end();
  for (const std::string& path : places.read_only) {
    CAPTURE(path);
    CHECK(read_file(path) == kGiven);
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK(status.st_nlink == 1);
    CHECK((status.st_mode & 0777U) != 0777U);
  }
  for (const std::string& path : places.hidden) CHECK(read_file(path) == kHidden);
}

}  // namespace
}  // namespace pawl::backend
