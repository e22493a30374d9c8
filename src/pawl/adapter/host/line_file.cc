#include "pawl/adapter/host/line_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "pawl/base/describe_errno.h"

namespace pawl {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 16U;

Error failed(const std::string& what, const std::string& path) {
  const int fault = errno;
  const ErrorCode code = fault == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable;
  return Error{code, path + ": cannot be " + what + ": " + describe_errno(fault)};
}

class LineFile final : public LineSource {
 public:
  LineFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~LineFile() override { ::close(fd_); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  Result<std::optional<std::string>> next(std::size_t bytes_max) override {
    std::string line;
    while (true) {
      const std::size_t end = buffer_.find('\n', taken_);
      const bool whole = end != std::string::npos;
      line.append(buffer_, taken_, whole ? end - taken_ : std::string::npos);
      taken_ = whole ? end + 1 : buffer_.size();
      if (line.size() > bytes_max) {
        return Error{ErrorCode::limit_exceeded,
                     "it is longer than " + std::to_string(bytes_max) + " bytes"};
      }
      if (whole) return std::optional<std::string>(std::move(line));
      PAWL_TRY(const bool more, fill());
      if (more) continue;
      if (line.empty()) return std::optional<std::string>();
      return Error{ErrorCode::invalid_argument, "the file ends inside it: it was cut short"};
    }
  }

  Status rewind() override {
    buffer_.clear();
    taken_ = 0;
    if (::lseek(fd_, 0, SEEK_SET) == 0) return ok();
    return failed("read again", path_);
  }

 private:
  // False: there is no more.
  Result<bool> fill() {
    buffer_.resize(kBufferBytes);
    taken_ = 0;
    while (true) {
      const ssize_t count = ::read(fd_, buffer_.data(), buffer_.size());
      if (count < 0 && errno == EINTR) continue;
      buffer_.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
      if (count < 0) return failed("read", path_);
      return count > 0;
    }
  }

  int fd_;
  std::string path_;
  std::string buffer_;
  std::size_t taken_ = 0;
};

class NewFile final : public OutputFile {
 public:
  NewFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~NewFile() override {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  Status write(std::string_view piece) override {
    while (!piece.empty()) {
      const ssize_t count = ::write(fd_, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return failed("written", path_);
      piece.remove_prefix(static_cast<std::size_t>(count));
    }
    return ok();
  }

  Status finish() override {
    if (::fsync(fd_) != 0) return failed("written", path_);
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) == 0) return ok();
    return failed("written", path_);
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<LineSource>> open_line_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed("read", path);
  auto file = std::make_unique<LineFile>(fd, path);
  if (const Status again = file->rewind(); !again) {
    return Error{ErrorCode::invalid_argument,
                 path + ": it is read twice, so it must be a file, not a pipe"};
  }
  return std::unique_ptr<LineSource>(std::move(file));
}

Result<std::unique_ptr<OutputFile>> create_output_file(const std::string& path) {
  constexpr mode_t kOwnerOnly = 0600;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly);
  if (fd < 0 && errno == EEXIST) {
    return Error{ErrorCode::conflict, path + " is there already; name another file"};
  }
  if (fd < 0) return failed("written", path);
  return std::unique_ptr<OutputFile>(std::make_unique<NewFile>(fd, path));
}

}  // namespace pawl
