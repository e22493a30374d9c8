#include "pawl/app/console.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace pawl {
namespace {

int descriptor_of(Stream stream) {
  return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
}

// True when it is worth trying again.
bool wait_writable(int fd) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd waiting{fd, POLLOUT, 0};
  return ::poll(&waiting, 1, -1) >= 0 || errno == EINTR;
}

// Without allocating anything.
[[noreturn]] void end_without(const char* what) {
  for (const char* text :
       {"pawl: the system gives no more ", what,
        "; what was journaled is safe, and `pawl resume` goes on from there\n"}) {
    static_cast<void>(!::write(STDERR_FILENO, text, std::strlen(text)));
  }
  ::_exit(1);
}

}  // namespace

void PosixConsole::write(Stream stream, std::string_view given) {
  const std::string filtered = filter_->sink(std::string(given));
  std::string_view text = filtered;
  const int fd = descriptor_of(stream);
  bool& closed = closed_[static_cast<std::size_t>(stream)];
  while (!closed && !text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (!wait_writable(fd)) {
      closed = true;
      // A stream that was closed, or that we were started without, is nobody's loss.
      if (errno != EPIPE && errno != EBADF) losses_[static_cast<std::size_t>(stream)] = errno;
    }
  }
}

std::string PosixConsole::loss(Stream stream) const {
  const int error = losses_[static_cast<std::size_t>(stream)];
  return error == 0 ? "" : std::generic_category().message(error);
}

bool PosixConsole::is_terminal(Stream stream) const {
  return ::isatty(descriptor_of(stream)) == 1;
}

std::size_t PosixConsole::columns() const {
  constexpr std::size_t kDefault = 80;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefault;
  return size.ws_col;
}

void end_when_out_of_memory() {
  std::set_new_handler([] { end_without("memory"); });
  std::set_terminate([] {
    try {
      if (std::current_exception()) std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc&) {
      end_without("memory");
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::resource_unavailable_try_again) end_without("threads");
    } catch (...) {  // A bug. What was thrown may quote a request: it is not printed.
    }
    std::abort();
  });
  // SQLite maps the index of its log. On a full disk the kernel may find no block for it only when
  // it is written to.
  std::signal(SIGBUS, [](int) { end_without("room on the disk"); });
}

void ensure_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is the one that is missing. Read-only, so that writes still fail.
    if (::open("/dev/null", O_RDONLY) != fd) return;
  }
}

}  // namespace pawl
