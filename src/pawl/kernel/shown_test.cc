#include "pawl/kernel/shown_test.h"

#include <variant>

#include "pawl/kernel/bytes.h"

namespace pawl::testing {
namespace {

template <class T>
std::string text_of_value(const T& value);

template <class T>
std::string shown_list(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + text_of_value(value);
  return text + "]";
}

std::string shown_content(const Content& content) {
  if (const std::string* bytes = content.bytes()) return *bytes;
  return "<blob of " + std::to_string(content.length()) + ">";
}

template <class T>
std::string shown_fields(const T& value) {
  std::string text;
  if constexpr (requires { T::kName; }) text = std::string(T::kName);
  text += "{";
  T::fields(value, [&text](const char* field, const auto& held) {
    text += (text.back() == '{' ? "" : ", ") + std::string(field) + "=" + text_of_value(held);
  });
  return text + "}";
}

std::string shown_message(const Message& message) {
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

template <class T>
std::string text_of_value(const T& value) {
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
    return value ? text_of_value(*value) : "none";
  } else if constexpr (requires { value.index(); }) {
    return std::visit([](const auto& one) { return text_of_value(one); }, value);
  } else if constexpr (HasFields<const T>) {
    return shown_fields(value);
  } else {
    return shown_list(value);
  }
}

}  // namespace

std::string shown_dialogue(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& one : messages) text += (text.empty() ? "" : " | ") + shown_message(one);
  return text;
}

std::string shown(const Event& value) {
  return text_of_value(value);
}
std::string shown(const Effect& value) {
  return text_of_value(value);
}
std::string shown(const Limits& value) {
  return text_of_value(value);
}
std::string shown(const Guards& value) {
  return text_of_value(value);
}
std::string shown(const Tally& value) {
  return text_of_value(value);
}
std::string shown(const LoopGuard& value) {
  return text_of_value(value);
}
std::string shown(const RunStatus& value) {
  return text_of_value(value);
}
std::string shown(const StopReason& value) {
  return text_of_value(value);
}
std::string shown(const WaitFor& value) {
  return text_of_value(value);
}
std::string shown(const std::vector<Decision>& value) {
  return text_of_value(value);
}
std::string shown(const std::vector<Effect>& value) {
  return text_of_value(value);
}
std::string shown(const std::vector<Message>& value) {
  return text_of_value(value);
}
std::string shown(const std::vector<std::string>& value) {
  return text_of_value(value);
}

TEST_CASE("values are shown by name, with all their fields") {
  CHECK(shown(Effect(AbortEffect{EffectId{3}})) == "abort_effect{target=e3}");
  CHECK(shown(std::vector<Decision>{PauseBegan{}, CallHeld{CallId{1}}}) ==
        "[pause_began{}, call_held{call=c1, held_for=run}]");
  CHECK(shown(Event(RunFinished{EffectId{2}, Content("x")})) ==
        "run_finished{effect=e2, output='x'}");
}

}  // namespace pawl::testing
