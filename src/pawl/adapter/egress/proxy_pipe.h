// One direction of a relayed connection: bytes that were read and are not yet written.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace pawl::egress {

inline constexpr std::size_t kPipeBytesMax = 64U << 10U;

class Pipe {
 public:
  enum class Step : std::uint8_t {
    moved,    // some bytes
    nothing,  // not ready, or no room
    ended,    // the source has no more, or the destination takes no more
  };

  // No more than these are read from the source, which then counts as ended.
  void limit(std::uint64_t bytes) { left_ = bytes; }
  void put(std::string_view bytes) { waiting_ += bytes; }
  void clear() { drop(waiting_.size() - sent_); }
  bool has_room() const { return !source_ended_ && waiting_.size() - sent_ < kPipeBytesMax; }
  bool has_bytes() const { return sent_ < waiting_.size(); }
  bool source_ended() const { return source_ended_; }
  bool is_done() const { return source_ended_ && !has_bytes(); }
  std::string_view bytes() const { return std::string_view(waiting_).substr(sent_); }
  void drop(std::size_t bytes) {
    sent_ += bytes;
    if (sent_ < waiting_.size()) return;
    waiting_.clear();
    sent_ = 0;
  }
  std::uint64_t read_bytes() const { return read_bytes_; }

  // One read, of what there is room for.
  Step read_from(int fd) {
    if (left_ == 0) source_ended_ = true;
    if (!has_room()) return Step::nothing;
    std::array<char, kPipeBytesMax> buffer;
    const std::size_t room = kPipeBytesMax - (waiting_.size() - sent_);
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(room, left_));
    const ssize_t got = ::recv(fd, buffer.data(), size, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      return Step::nothing;
    }
    if (got <= 0) {
      source_ended_ = true;
      return Step::ended;
    }
    if (sent_ > 0) {
      waiting_.erase(0, sent_);
      sent_ = 0;
    }
    const auto count = static_cast<std::size_t>(got);
    waiting_.append(buffer.data(), count);
    read_bytes_ += count;
    if (left_ != kUnlimited) left_ -= count;
    if (left_ == 0) source_ended_ = true;
    return Step::moved;
  }

  // One write.
  Step write_to(int fd) {
    if (!has_bytes()) return Step::nothing;
    const ssize_t sent =
        ::send(fd, waiting_.data() + sent_, waiting_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      return Step::nothing;
    }
    if (sent <= 0) return Step::ended;
    drop(static_cast<std::size_t>(sent));
    return Step::moved;
  }

 private:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  std::string waiting_;
  std::size_t sent_ = 0;  // of waiting_
  std::uint64_t left_ = kUnlimited;
  std::uint64_t read_bytes_ = 0;
  bool source_ended_ = false;
};

}  // namespace pawl::egress
