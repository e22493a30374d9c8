#include "pawl/filter/redactor.h"
#include "pawl/processor.h"

namespace pawl {
namespace {

class SecretScan final : public Processor {
 public:
  explicit SecretScan(OnFinding action) : action_(action) {}
  std::string_view name() const override { return "secret_scan"; }
  ProcessorVerdict process(const ProcessedText& at_hand) const override {
    std::string text(at_hand.text);
    std::size_t found = 0;
    const auto mark = [&found](std::string_view) {
      ++found;
      return std::string("[secret]");
    };
    if (!patterns_.replace(text, mark)) return TextPassed{};
    if (action_ == OnFinding::mask) return TextModified{std::move(text)};
    return TextBlocked{
        "it holds " + std::to_string(found) +
        (found == 1 ? " text that looks like a secret" : " texts that look like secrets")};
  }

 private:
  OnFinding action_;
  SecretPatterns patterns_;
};

}  // namespace

std::shared_ptr<const Processor> make_secret_scan(OnFinding action) {
  return std::make_shared<SecretScan>(action);
}

}  // namespace pawl
