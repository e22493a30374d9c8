// Random contents for any kernel type, made from its fields().
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/base/rng.h"
#include "pawl/kernel/bytes.h"
#include "pawl/kernel/scenario_test.h"

namespace pawl::testing {

class RandomValue {
 public:
  explicit RandomValue(Rng& rng) : rng_(rng) {}

  template <class T>
    requires std::is_unsigned_v<T>
  void fill(T& value) {
    value = static_cast<T>(rng_.next() >> rng_.below(64));  // All lengths of varint.
  }
  void fill(std::int64_t& value) {
    value = static_cast<std::int64_t>(rng_.next() >> rng_.below(64));
    if (rng_.one_in(2)) value = -value;
  }
  template <class T>
    requires std::is_enum_v<T>
  void fill(T& value) {
    using Number = std::underlying_type_t<T>;
    if constexpr (sizeof(Number) == 1) {
      value = static_cast<T>(rng_.below(kCount<T>));
    } else {
      Number number = 0;
      fill(number);
      value = static_cast<T>(number);
    }
  }
  void fill(std::string& value) {
    value.resize(rng_.one_in(20) ? 200 : rng_.below(12));
    for (char& c : value) c = static_cast<char>(rng_.below(256));
  }
  void fill(RunId& value) { fill(value.text); }
  void fill(Digest& value) {
    for (std::uint8_t& byte : value.bytes) byte = static_cast<std::uint8_t>(rng_.below(256));
  }
  void fill(BlobRef& value) {
    fill(value.digest);
    fill(value.length);
  }
  void fill(Content& value) { fill(value.held); }
  template <class T>
  void fill(std::optional<T>& value) {
    value.reset();
    if (rng_.one_in(2)) fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(rng_.below(4));
    for (T& value : values) fill(value);
  }
  template <class... T>
  void fill(std::variant<T...>& value) {
    fill_alternative(value, rng_.below(sizeof...(T)), std::index_sequence_for<T...>{});
  }
  template <HasFields T>
  void fill(T& value) {
    T::fields(value, [this](const char*, auto& field) { this->fill(field); });
  }
  // The alternative with this index.
  template <class... T>
  void fill_as(std::variant<T...>& value, std::size_t index) {
    fill_alternative(value, index, std::index_sequence_for<T...>{});
  }

 private:
  template <class V, std::size_t... I>
  void fill_alternative(V& value, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? fill(value.template emplace<I>()) : void()), ...);
  }

  Rng& rng_;
};

// A record with an event of this type. What it says is nonsense, but well-formed.
inline Record random_record(Rng& rng, std::size_t type) {
  RandomValue random(rng);
  Record record;
  random.fill(record.seq);
  random.fill(record.stamp);
  random.fill(record.instance);
  random.fill_as(record.event, type);
  if (auto* foreign = std::get_if<Unrecognised>(&record.event)) {
    foreign->type = std::variant_size_v<Event> + rng.below(1000);
    record.minor = kRecordMinor + 1;
    return record;  // An event that may be skipped has no consequences.
  }
  random.fill(record.decisions);
  random.fill(record.effects);
  return record;
}

}  // namespace pawl::testing
