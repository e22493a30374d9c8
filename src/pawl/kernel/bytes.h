// The canonical binary form of kernel types, made from their fields(). One value has exactly one
// encoding: numbers are shortest varints, a struct ends with its last field that differs from its
// default, and decoding refuses everything else. See docs/journal-format.md. Internal to the
// kernel; callers use codec.h.
#pragma once

#include <algorithm>
#include <boost/pfr/tuple_size.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "pawl/kernel/record.h"

namespace pawl {

// Elements of one list in a record or snapshot. Content is bounded by the record's size anyway.
inline constexpr std::uint64_t kListItemsMax = 64U << 20U;
// What the elements of all lists may take in memory, for each encoded byte and on top. Everything
// that a record holds many of has at least two bytes, so that nothing the encoder writes comes near
// it; a list of the smallest elements that only an attacker would write does.
inline constexpr std::size_t kListRoomPerByte = 176;
inline constexpr std::size_t kListRoomBase = 4096;

inline constexpr std::size_t kUsualRecordBytes = 256;
inline constexpr std::size_t kNumberBytesMax = 10;  // of 64 bits, seven in a byte
inline constexpr std::uint64_t kOneByteMax = 0x7F;  // the largest number of one byte

// The value of a field that is not written.
template <class T>
inline const T kDefault{};

// Whether a field has its default. Most defaults are empty, and comparing is dearer than looking.
template <class T>
bool is_same(const T& value, const T& other) {
  if constexpr (requires { value.size(); }) {
    return value.size() == other.size() && (value.empty() || value == other);
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() == other.has_value() && (!value || value == other);
  } else {
    return value == other;
  }
}
inline bool is_same(const Content& value, const Content& other) {
  if (!other.empty()) return value == other;
  const std::string* bytes = value.bytes();
  return bytes != nullptr && bytes->empty();
}

template <HasFields T>
inline constexpr std::size_t kFieldCount = [] {
  std::size_t count = 0;
  T::members([&count](const char*, auto) { ++count; });
  return count;
}();

// Of an alternative of a choice: its number, and whether a reader that does not know the number may
// step over it.
inline constexpr std::uint64_t kOptionalBit = 1;
constexpr std::uint64_t tag_of(std::uint64_t number) {
  return number << 1U;
}

// Structs and lists that are encoded already, by where they are. None is the first field of another
// struct, which would be in the same place.
using PreparedBytes = std::map<const void*, std::string>;

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

  // These are not encoded again. They outlive the writer.
  void use(const PreparedBytes* ready) { ready_ = ready; }

  // A record has a hundred of them: a call for each was a tenth of a step.
  [[gnu::always_inline]] void number(std::uint64_t value) {
    if (value <= kOneByteMax && at_ != end_) {
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
  void put(const Content& value) {
    number(value.held.index());
    std::visit([this](const auto& one) { this->put(one); }, value.held);
  }
  template <class T>
  void put(const std::optional<T>& value) {
    number(value ? 1 : 0);
    if (value) put(*value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    if (put_ready(&values)) return;
    number(values.size());
    for (const T& value : values) put(value);
  }
  template <class... T>
  void put(const std::variant<T...>& value) {
    number(tag_of(value.index()));
    std::visit([this](const auto& one) { this->put(one); }, value);
  }
  template <HasFields T>
  void put(const T& value) {
    if (put_ready(&value)) return;
    const std::size_t start = size();
    number(0);  // The length takes one byte of most structs.
    put_fields(value);
    set_length(start);
  }

 private:
  template <HasFields T>
  void put_fields(const T& value) {
    static_assert(boost::pfr::tuple_size_v<T> == kFieldCount<T>,
                  "a field of the struct is missing from its PAWL_FACT list");
    std::size_t written = 0;  // up to the last field that differs from its default
    std::size_t index = 0;
    T::members([&](const char*, auto member) {
      ++index;
      if (!is_same(value.*member, kDefault<T>.*member)) written = index;
    });
    index = 0;
    T::members([&](const char*, auto member) {
      if (index++ < written) this->put(value.*member);
    });
  }
  [[gnu::always_inline]] void set_length(std::size_t start) {
    const std::size_t length = size() - start - 1;
    if (length <= kOneByteMax) {
      bytes_.data()[start] = static_cast<char>(length);
    } else {
      set_long_length(start, length);
    }
  }
  void set_long_length(std::size_t start, std::size_t length) {
    ByteWriter number(kNumberBytesMax);
    number.number(length);
    room_for(number.size() - 1);
    const std::string_view bytes = number.view();
    std::copy_backward(bytes_.data() + start + 1, at_, at_ + bytes.size() - 1);
    bytes.copy(bytes_.data() + start, bytes.size());
    at_ += bytes.size() - 1;
  }
  [[gnu::noinline]] void long_number(std::uint64_t value) {
    char* at = room_for(kNumberBytesMax);
    for (; value > kOneByteMax; value >>= 7U) {
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

  bool put_ready(const void* value) {
    if (ready_ == nullptr) return false;
    const auto found = ready_->find(value);
    if (found == ready_->end()) return false;
    raw(found->second);
    return true;
  }

  const PreparedBytes* ready_ = nullptr;
  std::string bytes_;  // and unused room
  char* at_ = nullptr;
  char* end_ = nullptr;
};

// Choices whose lists may hold alternatives that a reader may step over.
template <class V>
inline constexpr bool kHasOptional = std::is_same_v<V, Decision> || std::is_same_v<V, AnyDecision>;

// What a program that is newer in its minor version has written may hold things to step over.
enum class WrittenBy : std::uint8_t { this_version, newer };

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, WrittenBy writer = WrittenBy::this_version)
      : at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        room_(kListRoomBase + kListRoomPerByte * bytes.size()),
        writer_(writer) {}

  Skipped skipped() const { return skipped_; }
  void skip(std::size_t bytes, Skipped what) {
    if (writer_ != WrittenBy::newer || bytes > left()) return fail();
    at_ += bytes;
    skipped_ = std::max(skipped_, what);
  }

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  void fail() {
    failed_ = true;
    at_ = end_;
  }

  std::uint64_t number() {
    if (at_ != end_ && static_cast<std::uint8_t>(*at_) <= kOneByteMax) {
      return static_cast<std::uint8_t>(*at_++);
    }
    return long_number();
  }
  std::string_view raw(std::uint64_t length) {
    if (length > left()) {
      fail();
      return {};
    }
    const std::string_view taken(at_, static_cast<std::size_t>(length));
    at_ += taken.size();
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
  void take(Content& value) {
    switch (number()) {
      case 0:
        return take(value.held.emplace<std::string>());
      case 1:
        return take(value.held.emplace<BlobRef>());
      default:
        return fail();
    }
  }
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
      if constexpr (kHasOptional<T>) {
        if (stepped_over_) values.pop_back();
        stepped_over_ = false;
      }
    }
  }
  template <class... T>
  void take(std::variant<T...>& value) {
    const std::uint64_t tag = number();
    const std::uint64_t index = tag >> 1U;
    const bool is_optional = (tag & kOptionalBit) != 0;
    if (!is_optional) return take_alternative(value, index, std::index_sequence_for<T...>{});
    // What is known is never marked so.
    if (!kHasOptional<std::variant<T...>> || index < sizeof...(T)) return fail();
    const std::uint64_t length = number();
    if (length > left()) return fail();
    skip(static_cast<std::size_t>(length), Skipped::optional);
    stepped_over_ = true;
  }
  template <HasFields T>
  void take(T& value) {
    const std::uint64_t length = number();
    if (length > left()) return fail();
    const char* const behind = std::exchange(end_, at_ + length);
    take_fields(value);
    end_ = behind;
    if (failed_) at_ = end_;
  }

 private:
  std::uint64_t long_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(*at_++);
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
  // Up to the end of the struct. `value` has its defaults.
  template <HasFields T>
  void take_fields(T& value) {
    T::members([&](const char*, auto member) {
      if (at_end()) return;
      auto& field = value.*member;
      [[maybe_unused]] const std::size_t before = left();
      this->take(field);
      if (!at_end() || failed_) return;
      // The last one that is written differs from its default, or it would not be written.
      if constexpr (HasFields<std::decay_t<decltype(field)>>) {
        if (before == 1) fail();
      } else {
        if (field == kDefault<T>.*member) fail();
      }
    });
    if (!at_end()) skip(left(), Skipped::fields);
  }
  template <class V, std::size_t... I>
  void take_alternative(V& value, std::uint64_t index, std::index_sequence<I...>) {
    const bool known = ((I == index ? (take(value.template emplace<I>()), true) : false) || ...);
    if (!known) fail();
  }

  const char* at_;
  const char* end_;  // of the struct that is being taken
  std::size_t room_;
  WrittenBy writer_;
  Skipped skipped_ = Skipped::nothing;
  bool stepped_over_ = false;  // the alternative that was to be taken last
  bool failed_ = false;
};

}  // namespace pawl
