#include "pawl/adapter/provider/common/call_results.h"

#include <algorithm>

#include "pawl/adapter/provider/common/conversation.h"

namespace pawl::provider {
namespace {

bool is_wire_id(std::string_view id) {
  return !id.empty() && id.size() <= kWireCallIdBytesMax &&
         std::all_of(id.begin(), id.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

std::uint64_t number(const Message& message) {
  return static_cast<std::uint64_t>(message.call);
}

}  // namespace

std::vector<const Message*> results_of(std::size_t calls,
                                       std::vector<const Message*> tool_messages) {
  std::vector<const Message*> places(calls, nullptr);
  const auto before = [](const Message* a, const Message* b) { return a->call < b->call; };
  std::stable_sort(tool_messages.begin(), tool_messages.end(), before);
  const auto same = [](const Message* a, const Message* b) { return a->call == b->call; };
  tool_messages.erase(std::unique(tool_messages.begin(), tool_messages.end(), same),
                      tool_messages.end());
  if (tool_messages.empty()) return places;
  const std::uint64_t first = number(*tool_messages.front());
  const bool numbered = number(*tool_messages.back()) - first < calls;
  for (std::size_t rank = 0; rank < tool_messages.size(); ++rank) {
    const std::uint64_t place = numbered ? number(*tool_messages[rank]) - first : rank;
    if (place < calls) places[place] = tool_messages[rank];
  }
  return places;
}

std::string WireCallIds::next(const std::string& provider_id, const Message* result) {
  ++calls_;
  if (is_wire_id(provider_id) && used_.insert(provider_id).second) return provider_id;
  const std::string plain = "call_" + std::to_string(result != nullptr ? number(*result) : calls_);
  std::string id = plain;
  // At most as many rounds as there are calls: each id that is taken belongs to one.
  for (std::uint64_t n = 2; !used_.insert(id).second; ++n) id = plain + "_" + std::to_string(n);
  return id;
}

}  // namespace pawl::provider
