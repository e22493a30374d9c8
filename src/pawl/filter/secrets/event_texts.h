// Goes through all texts of an event or a decision, whatever its fields are.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/content.h"
#include "pawl/words.h"

namespace pawl {

// `Take` is called with each std::string& and each Content&.
template <class Take>
class EventTexts {
 public:
  explicit EventTexts(Take& take) : take_(take) {}

  void visit_all(std::string& text) { take_(text); }
  void visit_all(Content& content) { take_(content); }
  template <class T>
  void visit_all(std::optional<T>& value) {
    if (value) visit_all(*value);
  }
  template <class T>
  void visit_all(std::vector<T>& values) {
    for (T& value : values) visit_all(value);
  }
  template <class... T>
  void visit_all(std::variant<T...>& value) {
    std::visit([this](auto& one) { this->visit_all(one); }, value);
  }
  template <HasFields T>
  void visit_all(T& value) {
    T::fields(value, [this](const char*, auto& field) { this->visit_all(field); });
  }
  // Numbers, ids, digests.
  template <class T>
    requires(!HasFields<T> && !requires(T& value) { value.valueless_by_exception(); })
  void visit_all(T&) {}

 private:
  Take& take_;
};

}  // namespace pawl
