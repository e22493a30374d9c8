#include <algorithm>

#include "pawl/processor.h"

namespace pawl {
namespace {

class SizeBound final : public Processor {
 public:
  SizeBound(std::size_t bytes_max, OnTooLong action) : bytes_max_(bytes_max), action_(action) {}
  std::string_view name() const override { return "size"; }
  ProcessorVerdict process(const ProcessedText& at_hand) const override {
    const std::string_view text = at_hand.text;
    if (text.size() <= bytes_max_) return TextPassed{};
    if (action_ == OnTooLong::block) {
      return TextBlocked{"it has " + std::to_string(text.size()) + " bytes, and " +
                         std::to_string(bytes_max_) + " are allowed"};
    }
    std::size_t end = bytes_max_;
    while (end > 0 && is_inside_character(text[end])) --end;
    return TextModified{std::string(text.substr(0, end)) +
                        "\n[cut: " + std::to_string(text.size() - end) + " more bytes]"};
  }

 private:
  static bool is_inside_character(char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  }

  std::size_t bytes_max_;
  OnTooLong action_;
};

}  // namespace

std::shared_ptr<const Processor> make_size_bound(std::size_t bytes_max, OnTooLong action) {
  return std::make_shared<SizeBound>(bytes_max, action);
}

}  // namespace pawl
