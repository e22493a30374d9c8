// The contents that an event holds: texts, arguments, results, whatever came from outside.
#pragma once

#include <optional>
#include <vector>

#include "pawl/kernel/events.h"

namespace pawl {

// Calls visit(content) for each, in order. `Fact` is an event, or const.
template <class Fact, class Visit>
void visit_contents(Fact& fact, const Visit& visit);

template <class T>
inline constexpr bool kIsListOfStructs = false;
template <HasFields T>
inline constexpr bool kIsListOfStructs<std::vector<T>> = true;

template <class Visit>
struct ContentVisitor {
  const Visit& visit;

  template <class Value>
  void operator()(const char*, Value& value) const {
    using Plain = std::remove_const_t<Value>;
    if constexpr (std::is_same_v<Plain, Content>) {
      visit(value);
    } else if constexpr (std::is_same_v<Plain, std::optional<Content>>) {
      if (value) visit(*value);
    } else if constexpr (kIsListOfStructs<Plain>) {
      for (auto& one : value) visit_contents(one, visit);
    } else if constexpr (std::is_same_v<Plain, std::vector<Block>>) {
      for (auto& block : value) {
        std::visit([this](auto& one) { visit_contents(one, visit); }, block);
      }
    }
  }
};

template <class Fact, class Visit>
void visit_contents(Fact& fact, const Visit& visit) {
  std::remove_const_t<Fact>::fields(fact, ContentVisitor<Visit>{visit});
}

// The blobs that an event refers to.
inline std::vector<BlobRef> blobs_of(const Event& event) {
  std::vector<BlobRef> blobs;
  const auto collect = [&blobs](const Content& content) {
    if (const BlobRef* blob = content.blob()) blobs.push_back(*blob);
  };
  std::visit([&collect](const auto& fact) { visit_contents(fact, collect); }, event);
  return blobs;
}

}  // namespace pawl
