// Kernel values as text, for the messages of failed tests.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "pawl/kernel/bytes.h"
#include "pawl/kernel/kernel.h"
#include "pawl/kernel/transcript.h"

namespace pawl::testing {

template <class T>
std::string shown(const T& value);

template <class T>
std::string shown_list(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + shown(value);
  return text + "]";
}

inline std::string shown_content(const Content& content) {
  if (const std::string* bytes = content.bytes()) return *bytes;
  return "<blob of " + std::to_string(content.length()) + ">";
}

template <class T>
std::string shown_fields(const T& value) {
  std::string text;
  if constexpr (requires { T::kName; }) text = std::string(T::kName);
  text += "{";
  T::fields(value, [&text](const char* field, const auto& held) {
    text += (text.back() == '{' ? "" : ", ") + std::string(field) + "=" + shown(held);
  });
  return text + "}";
}

inline std::string shown_message(const Message& message) {
  if (message.role == Role::user) return "user: " + shown_content(message.text);
  if (message.role == Role::tool) {
    const bool fine = message.outcome == Message::Outcome::fine;
    return to_string(message.call) + (fine ? ": " : "! ") + shown_content(message.text);
  }
  std::string text = "assistant:";
  for (const Block& block : message.blocks) {
    if (const auto* said = std::get_if<TextBlock>(&block)) text += " " + shown_content(said->text);
    if (const auto* call = std::get_if<CallBlock>(&block)) text += " [" + call->tool + "]";
  }
  return text;
}

inline std::string shown_dialogue(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& one : messages) text += (text.empty() ? "" : " | ") + shown_message(one);
  return text;
}

template <class T>
std::string shown(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    if constexpr (requires { to_string(value); }) {
      return to_string(value);
    } else {
      return std::string(name(value));
    }
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "'" + value + "'";
  } else if constexpr (std::is_same_v<T, RunId>) {
    return value.text;
  } else if constexpr (std::is_same_v<T, Content>) {
    return "'" + shown_content(value) + "'";
  } else if constexpr (std::is_same_v<T, Digest>) {
    return to_hex(value).substr(0, 8);
  } else if constexpr (std::is_same_v<T, std::vector<Message>>) {
    return shown_dialogue(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? shown(*value) : "none";
  } else if constexpr (requires { value.index(); }) {
    return std::visit([](const auto& one) { return shown(one); }, value);
  } else if constexpr (HasFields<const T>) {
    return shown_fields(value);
  } else {
    return shown_list(value);
  }
}

}  // namespace pawl::testing

namespace doctest {

template <class T>
  requires(std::is_same_v<T, std::vector<pawl::Decision>> ||
           std::is_same_v<T, std::vector<pawl::Effect>> ||
           std::is_same_v<T, std::vector<std::string>> || std::is_same_v<T, pawl::Tally> ||
           std::is_same_v<T, pawl::LoopGuard> || std::is_same_v<T, pawl::RunStatus> ||
           std::is_same_v<T, pawl::StopReason> || std::is_same_v<T, pawl::WaitFor>)
struct StringMaker<T> {
  static String convert(const T& value) { return pawl::testing::shown(value).c_str(); }
};

}  // namespace doctest
