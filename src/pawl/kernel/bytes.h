// The canonical binary form of kernel types, made from their fields(). One value has exactly one
// encoding: numbers are shortest varints, and decoding refuses everything else.
// See docs/journal-format.md. Internal to the kernel; callers use codec.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "pawl/kernel/events.h"

namespace pawl {

// Elements of one list in a record or snapshot. Content is bounded by the record's size anyway.
inline constexpr std::uint64_t kListItemsMax = 64U << 20U;
// What the elements of all lists may take in memory, for each encoded byte and on top. Everything
// that a record holds many of has at least two bytes, so that nothing the encoder writes comes near
// it; a list of the smallest elements that only an attacker would write does.
inline constexpr std::size_t kListRoomPerByte = 112;
inline constexpr std::size_t kListRoomBase = 4096;

inline constexpr std::size_t kUsualRecordBytes = 256;
inline constexpr std::size_t kNumberBytesMax = 10;  // of 64 bits, seven in a byte

template <class T>
concept HasFields = requires(T& value) { T::fields(value, [](const char*, auto&) {}); };

// Writes into room that is there already: a record is mostly numbers of one byte, and a string that
// grows by each of them costs more than all else.
class ByteWriter {
 public:
  explicit ByteWriter(std::size_t room = kUsualRecordBytes) { make_room(room); }
  ByteWriter(const ByteWriter&) = delete;
  ByteWriter& operator=(const ByteWriter&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(at_ - bytes_.data()); }
  std::string_view view() const { return {bytes_.data(), size()}; }
  // Ends the writing.
  std::string take() {
    bytes_.resize(size());
    return std::move(bytes_);
  }

  void number(std::uint64_t value) {
    if (value < 0x80 && at_ != end_) {
      *at_++ = static_cast<char>(value);
    } else {
      long_number(value);
    }
  }
  void text(std::string_view value) {
    number(value.size());
    raw(value);
  }
  void raw(std::string_view value) { at_ += value.copy(room_for(value.size()), value.size()); }
  // Puts the length of what was written from `start` on in front of it.
  void insert_length(std::size_t start) {
    ByteWriter length(kNumberBytesMax);
    length.number(size() - start);
    room_for(length.size());
    std::copy_backward(bytes_.data() + start, at_, at_ + length.size());
    at_ += length.view().copy(bytes_.data() + start, length.size());
  }
  void drop_last() { --at_; }

  template <class T>
    requires std::is_unsigned_v<T>
  void put(const T& value) {
    number(value);
  }
  void put(const std::int64_t& value) {  // zigzag
    const auto bits = static_cast<std::uint64_t>(value);
    number((bits << 1U) ^ (value < 0 ? ~std::uint64_t{0} : 0));
  }
  template <class T>
    requires std::is_enum_v<T>
  void put(const T& value) {
    number(static_cast<std::uint64_t>(value));
  }
  void put(const std::string& value) { text(value); }
  void put(const RunId& value) { text(value.text); }
  void put(const Digest& value) { raw(value.view()); }
  void put(const BlobRef& value) {
    put(value.digest);
    number(value.length);
  }
  void put(const Content& value) { put(value.held); }
  template <class T>
  void put(const std::optional<T>& value) {
    number(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    number(values.size());
    for (const T& value : values) put(value);
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    number(value.index());
    std::visit([this](const auto& one) { this->put(one); }, value);
  }
  template <HasFields T>
  void put(const T& value) {
    T::fields(value, [this](const char*, const auto& field) { this->put(field); });
  }

 private:
  void long_number(std::uint64_t value) {
    char* at = room_for(kNumberBytesMax);
    for (; value >= 0x80; value >>= 7U) {
      *at++ = static_cast<char>((value & 0x7FU) | 0x80U);
    }
    *at++ = static_cast<char>(value);
    at_ = at;
  }
  char* room_for(std::size_t more) {
    if (static_cast<std::size_t>(end_ - at_) < more) make_room(bytes_.size() + more);
    return at_;
  }
  void make_room(std::size_t more) {
    const std::size_t used = bytes_.empty() ? 0 : size();
    bytes_.resize(bytes_.size() + more);
    at_ = bytes_.data() + used;
    end_ = bytes_.data() + bytes_.size();
  }

  std::string bytes_;  // and unused room
  char* at_ = nullptr;
  char* end_ = nullptr;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : rest_(bytes), room_(kListRoomBase + kListRoomPerByte * bytes.size()) {}

  bool failed() const { return failed_; }
  bool at_end() const { return rest_.empty(); }
  std::size_t left() const { return rest_.size(); }
  void fail() {
    failed_ = true;
    rest_ = {};
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      const std::uint64_t part = byte & 0x7FU;
      const bool overflows = shift == 63 && part > 1;
      const bool padded = byte == 0 && shift > 0;  // not the shortest form
      if (overflows || padded) break;
      value |= part << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    fail();
    return 0;
  }
  std::string_view raw(std::uint64_t length) {
    if (length > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view taken = rest_.substr(0, static_cast<std::size_t>(length));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  template <class T>
    requires std::is_unsigned_v<T>
  void take(T& value) {
    const std::uint64_t wide = number();
    value = static_cast<T>(wide);
    if (value != wide) fail();
  }
  void take(std::int64_t& value) {
    const std::uint64_t bits = number();
    value = static_cast<std::int64_t>((bits >> 1U) ^ (~(bits & 1U) + 1));
  }
  template <class T>
    requires std::is_enum_v<T>
  void take(T& value) {
    const std::uint64_t wide = number();
    using Number = std::underlying_type_t<T>;
    if constexpr (sizeof(Number) == 1) {
      if (wide >= kCount<T>) return fail();
    } else {
      if (wide > static_cast<Number>(-1)) return fail();
    }
    value = static_cast<T>(wide);
  }
  void take(std::string& value) { value = raw(number()); }
  void take(RunId& value) { take(value.text); }
  void take(Digest& value) {
    const std::string_view bytes = raw(value.bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
    }
  }
  void take(BlobRef& value) {
    take(value.digest);
    value.length = number();
  }
  void take(Content& value) { take(value.held); }
  template <class T>
  void take(std::optional<T>& value) {
    const std::uint64_t present = number();
    if (present > 1) return fail();
    value.reset();
    if (present == 1) take(value.emplace());
  }
  template <class T>
  void take(std::vector<T>& values) {
    const std::uint64_t count = number();
    // Every element takes at least a byte: a count beyond what is left is damage, not a
    // reservation.
    if (count > kListItemsMax || count > left()) {
      if (count != 0) return fail();
    }
    values.clear();
    for (std::uint64_t i = 0; i < count && !failed_; ++i) {
      if (sizeof(T) > room_) return fail();
      room_ -= sizeof(T);
      take(values.emplace_back());
    }
  }
  template <class... T>
  void take(std::variant<T...>& value) {
    take_alternative(value, number(), std::index_sequence_for<T...>{});
  }
  template <HasFields T>
  void take(T& value) {
    T::fields(value, [this](const char*, auto& field) { this->take(field); });
  }

 private:
  template <class V, std::size_t... I>
  void take_alternative(V& value, std::uint64_t index, std::index_sequence<I...>) {
    const bool known = ((I == index ? (take(value.template emplace<I>()), true) : false) || ...);
    if (!known) fail();
  }

  std::string_view rest_;
  std::size_t room_;
  bool failed_ = false;
};

}  // namespace pawl
