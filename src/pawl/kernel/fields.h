// The list of a struct's fields, from which codec, printer and redaction are made. codec.cc counts
// the fields: one that is missing from its list does not compile.
#pragma once

#include <string_view>

// Declares the name and the fields of a struct that is stored: an event, a decision, an effect, a
// phase, or a part of one. Fields are only appended, and the value that a field has by default is
// what it means where it is missing; see docs/journal-format.md, "Versions".
#define PAWL_FIELD(field) visit(#field, &Self::field);
#define PAWL_FACT(type, json_name, ...)                                               \
  static constexpr std::string_view kName = json_name;                                \
  template <class Visit>                                                              \
  static constexpr void members([[maybe_unused]] Visit&& visit) {                     \
    using Self [[maybe_unused]] = type;                                               \
    __VA_ARGS__                                                                       \
  }                                                                                   \
  template <class Value, class Visit>                                                 \
  static void fields([[maybe_unused]] Value& value, [[maybe_unused]] Visit&& visit) { \
    members([&](const char* name, auto member) { visit(name, value.*member); });      \
  }                                                                                   \
  friend bool operator==(const type&, const type&) = default

namespace pawl {

template <class T>
concept HasFields = requires(T& value) { T::fields(value, [](const char*, auto&) {}); };

}  // namespace pawl
