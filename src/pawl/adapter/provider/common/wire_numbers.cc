#include "pawl/adapter/provider/common/wire_numbers.h"

#include <algorithm>

namespace pawl::provider {

std::optional<std::uint64_t> token_count(const FlatValue& value) {
  const auto count = value.as_uint64();
  return count && *count <= kTokenCountMax ? count : std::nullopt;
}

void raise_count(std::uint64_t& counter, const FlatValue& value) {
  counter = std::max(counter, token_count(value).value_or(0));
}

std::string milli_text(std::uint32_t milli) {
  std::string fraction = std::to_string(1'000 + milli % 1'000).substr(1);
  while (fraction.ends_with('0')) fraction.pop_back();
  return std::to_string(milli / 1'000) + (fraction.empty() ? "" : "." + fraction);
}

}  // namespace pawl::provider
