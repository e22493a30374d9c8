#include "pawl/adapter/host/console.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include "pawl/base/memory_shortage.h"

namespace pawl {
namespace {

int descriptor_of(Stream stream) {
  return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO;
}

// What may wait to be written. Views of a run stop at kOutputPendingMax, but cut no line: this has
// room for the largest reply with every byte of it escaped.
constexpr std::size_t kOutputBytesMax = std::size_t{160} << 20U;
constexpr std::size_t kDiagnosticBytesMax = std::size_t{1} << 20U;

// A stream that was closed, or that we were started without, is nobody's loss.
bool is_reader_gone(int error) {
  return error == EPIPE || error == EBADF;
}

bool lead_to_one_place() {
  struct stat out{};
  struct stat err{};
  return ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
         out.st_dev == err.st_dev && out.st_ino == err.st_ino;
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

OutputWriter* PosixConsole::writer_of(Stream stream) const {
  return writers_[static_cast<std::size_t>(stream)].get();
}

void PosixConsole::pace(std::function<void()> progress) {
  if (writers_.front() == nullptr) {
    writers_[0] = std::make_shared<OutputWriter>();
    writers_[1] = lead_to_one_place() ? writers_[0] : std::make_shared<OutputWriter>();
  }
  for (const auto& writer : writers_) writer->on_progress(progress);
}

Backlog PosixConsole::backlog(Stream stream) {
  OutputWriter* writer = writer_of(stream);
  return writer == nullptr ? Backlog{} : writer->backlog();
}

void PosixConsole::abandon(Stream stream) {
  if (OutputWriter* writer = writer_of(stream)) writer->abandon();
}

void PosixConsole::flush() {
  for (const auto& writer : writers_) {
    if (writer != nullptr && !writer->flush(kReaderGraceMs)) writer->abandon();
  }
}

void PosixConsole::write(Stream stream, std::string_view given) {
  std::string text = filter_->sink(std::string(given));
  OutputWriter* writer = writer_of(stream);
  if (writer == nullptr) return write_waiting(stream, text);
  const std::size_t most = stream == Stream::out ? kOutputBytesMax : kDiagnosticBytesMax;
  writer->put(descriptor_of(stream), std::move(text), most);
}

void PosixConsole::write_waiting(Stream stream, std::string_view text) {
  bool& closed = closed_[static_cast<std::size_t>(stream)];
  if (closed) return;
  const int error = write_all(descriptor_of(stream), text);
  closed = error != 0;
  if (closed && !is_reader_gone(error)) losses_[static_cast<std::size_t>(stream)] = error;
}

std::string PosixConsole::loss(Stream stream) const {
  int error = losses_[static_cast<std::size_t>(stream)];
  const OutputWriter* writer = writer_of(stream);
  const int fault = writer == nullptr ? 0 : writer->fault(descriptor_of(stream));
  if (error == 0 && !is_reader_gone(fault)) error = fault;
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
  std::set_new_handler([] {
    if (MemoryMayLack::here()) throw std::bad_alloc();
    end_without("memory");
  });
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
