// Which result belongs to which call of an assistant's message.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// The tool messages behind an assistant's message up to the next one, each at the place of its call
// among `calls`; null where there is none. Calls are numbered in the order they were written, so a
// result's number says its place; numbers that cannot be of one message count by their rank.
std::vector<const Message*> results_of(std::size_t calls,
                                       std::vector<const Message*> tool_messages);

// Gives each call an id that all providers accept and no other call of the conversation has.
class WireCallIds {
 public:
  // `provider_id` is empty when the call is another provider's.
  std::string next(const std::string& provider_id, const Message* result);

 private:
  std::set<std::string, std::less<>> used_;
  std::uint64_t calls_ = 0;
};

}  // namespace pawl::provider
