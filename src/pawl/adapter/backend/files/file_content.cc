#include "pawl/adapter/backend/files/file_content.h"

#include <fcntl.h>

#include <algorithm>

#include "pawl/adapter/backend/files/shown_name.h"

namespace pawl::backend {
namespace {

constexpr std::size_t kReadBytes = 256U << 10U;

std::int64_t nanoseconds(const timespec& time) {
  constexpr std::int64_t kPerSecond = 1'000'000'000;
  return time.tv_sec * kPerSecond + time.tv_nsec;
}

Error too_large(const std::string& path, std::uint64_t bytes_max) {
  return {ErrorCode::limit_exceeded, shown_name(path) + ": larger than " +
                                         std::to_string(bytes_max) +
                                         " bytes; look at parts of it with a command"};
}

}  // namespace

FileStamp stamp_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
}

std::string_view kind_of(const struct stat& status) {
  switch (status.st_mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a named pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFLNK:
      return "a symbolic link";
    default:
      return "a device";
  }
}

Result<FileContent> read_open_file(int file, const std::string& path, std::uint64_t bytes_max) {
  FileContent content;
  if (::fstat(file, &content.status) != 0) return system_error(errno, shown_name(path));
  if (!S_ISREG(content.status.st_mode)) {
    return Error{
        ErrorCode::invalid_argument,
        shown_name(path) + " is " + std::string(kind_of(content.status)) + ", not a regular file"};
  }
  if (static_cast<std::uint64_t>(content.status.st_size) > bytes_max) {
    return too_large(path, bytes_max);
  }
  content.bytes.reserve(static_cast<std::size_t>(content.status.st_size) + 1);
  std::string piece(
      std::min<std::size_t>(kReadBytes, static_cast<std::size_t>(content.status.st_size) + 1),
      '\0');
  // It may grow meanwhile: the bound holds for what is read, not for what fstat() said.
  while (content.bytes.size() <= bytes_max) {
    const ssize_t count = ::read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(errno, shown_name(path));
    if (count == 0) return content;
    content.bytes.append(piece.data(), static_cast<std::size_t>(count));
  }
  return too_large(path, bytes_max);
}

Result<FileContent> read_regular(const Place& place, Links links, std::uint64_t bytes_max) {
  const int nofollow = links == Links::refused ? O_NOFOLLOW : 0;
  PAWL_TRY(const Descriptor file, open_place(place, O_RDONLY | nofollow, links));
  return read_open_file(file.number(), place.path, bytes_max);
}

Status check_replaceable(const struct stat& status, const std::string& path) {
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(path) + " is " + std::string(kind_of(status)) + ", not a regular file"};
  }
  if (status.st_nlink > 1) {
    return Error{ErrorCode::invalid_argument,
                 shown_name(path) +
                     " has a second name (a hard link), perhaps outside the roots; "
                     "copy it and edit the copy"};
  }
  return ok();
}

}  // namespace pawl::backend
