// Kernel values as text, for the messages of failed tests.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "pawl/kernel/kernel.h"
#include "pawl/kernel/transcript.h"

namespace pawl::testing {

std::string shown(const Event& value);
std::string shown(const Effect& value);
std::string shown(const Limits& value);
std::string shown(const Guards& value);
std::string shown(const Tally& value);
std::string shown(const LoopGuard& value);
std::string shown(const RunStatus& value);
std::string shown(const StopReason& value);
std::string shown(const WaitFor& value);
std::string shown(const std::vector<Decision>& value);
std::string shown(const std::vector<Effect>& value);
std::string shown(const std::vector<Message>& value);
std::string shown(const std::vector<std::string>& value);

// "user: hello | assistant: [pure] | c1: ok": short enough to compare at a glance.
std::string shown_dialogue(const std::vector<Message>& messages);

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
