#include "pawl/adapter/backend/sandbox/own_directory.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>

namespace pawl::sandbox {
namespace {

TEST_CASE("a directory goes with its owner; of one that was killed when the next one comes") {
  const std::string prefix = "pawl-own-test-" + std::to_string(::getpid()) + "-";
  auto made = OwnDirectory::make(prefix);
  REQUIRE(made);
  std::optional<OwnDirectory> own(*std::move(made));
  const std::string path = own->path();
  std::ofstream(path + "/file") << "x";

  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const auto left = OwnDirectory::make(prefix);
    const bool told = left && ::write(ends[1], left->path().c_str(), left->path().size()) > 0;
    while (told) ::pause();
    ::_exit(1);
  }
  std::string left(4096, '\0');
  const ssize_t bytes = ::read(ends[0], left.data(), left.size());
  left.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  ::close(ends[0]);
  ::close(ends[1]);
  sweep_directories(prefix);
  CHECK(std::filesystem::exists(left));  // it lives

  ::kill(other, SIGKILL);
  REQUIRE(::waitpid(other, nullptr, 0) == other);
  CHECK(std::filesystem::exists(left));
  sweep_directories(prefix);
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(path + "/file"));
  own.reset();
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace pawl::sandbox
