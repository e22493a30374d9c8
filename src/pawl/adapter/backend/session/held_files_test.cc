#include "pawl/adapter/backend/session/held_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>

#include "tests/support/temp_directory.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kHeldBytes = 1U << 20U;

// A file of a mebibyte without a name.
int make_nameless(const std::string& directory) {
  const int file = ::open((directory + "/f").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ::unlink((directory + "/f").c_str());
  const std::string text(kHeldBytes, 'x');
  if (::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return -1;
  return file;
}

// A process that holds something, and waits.
class Holder {
 public:
  explicit Holder(const std::function<bool()>& take) {
    std::array<int, 2> ends{-1, -1};
    REQUIRE(::pipe(ends.data()) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      const char word = take() ? 'y' : 'n';
      while (::write(ends[1], &word, 1) == 1) ::pause();
      ::_exit(1);
    }
    char word = 0;
    REQUIRE(::read(ends[0], &word, 1) == 1);
    CHECK(word == 'y');
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (pid_ > 1) ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  HeldFiles files(const std::string& directory) const {
    struct stat status{};
    REQUIRE(::stat(directory.c_str(), &status) == 0);
    return find_held_files({pid_}, status.st_dev);
  }

 private:
  pid_t pid_ = 0;
};

bool send_descriptor(int socket, int file) {
  char byte = 'x';
  iovec piece{&byte, 1};
  std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  return ::sendmsg(socket, &message, 0) == 1;
}

TEST_CASE("a file without a name is found where it is held, once") {
  const TempDirectory directory;
  const Holder twice([&] {
    const int file = make_nameless(directory.path());
    return ::dup(file) >= 0 &&
           ::mmap(nullptr, kHeldBytes, PROT_READ, MAP_SHARED, file, 0) != MAP_FAILED;
  });
  const HeldFiles found = twice.files(directory.path());
  CHECK(found.bytes >= kHeldBytes);
  CHECK(found.bytes < 2 * kHeldBytes);
  CHECK(found.complete);
  const Holder nothing([] { return true; });
  CHECK(nothing.files(directory.path()).bytes == 0);
  CHECK(nothing.files(directory.path()).complete);
}

// Either its size is known, or that something is there.
bool is_noticed(const HeldFiles& found) {
  return found.bytes >= kHeldBytes || !found.complete;
}

TEST_CASE("none of the attempts to hold a file out of sight works") {
  const TempDirectory directory;
  const Holder mapped([&] {
    const int file = make_nameless(directory.path());
    const void* memory = ::mmap(nullptr, kHeldBytes, PROT_READ, MAP_SHARED, file, 0);
    return memory != MAP_FAILED && ::close(file) == 0;
  });
  CHECK(is_noticed(mapped.files(directory.path())));
  const Holder sent([&] {
    std::array<int, 2> ends{-1, -1};
    const int file = make_nameless(directory.path());
    return ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0 &&
           send_descriptor(ends[0], file) && ::close(file) == 0;
  });
  CHECK(is_noticed(sent.files(directory.path())));
  const Holder hidden([&] {
    return make_nameless(directory.path()) >= 0 && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
  });
  CHECK(is_noticed(hidden.files(directory.path())));
}

TEST_CASE("files in memory have a file system of their own") {
  const Holder holder([] {
    const int file = ::memfd_create("x", 0);
    const std::string text(kHeldBytes, 'x');
    return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  });
  CHECK(device_of_memory() != 0);
  const TempDirectory directory;
  CHECK(holder.files(directory.path()).bytes == 0);
}

}  // namespace
}  // namespace pawl::backend
