// The calls of one reply, put together from fragments. OpenAI numbers them; other servers leave out
// the number, the id or both, send a call whole, or send it again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/json.h"
#include "pawl/base/result.h"

namespace pawl::provider {

// More than this make a reply an error. A reply may have 256 blocks.
inline constexpr std::size_t kChatCallsMax = 1024;

struct ChatCall {
  std::optional<std::uint64_t> index;
  std::string id;
  std::string name;
  std::string arguments;
};

class ChatCalls {
 public:
  // One element of "tool_calls". Gives back what it added to the arguments of the first call, which
  // is the one that can be shown while it is written.
  Result<std::string> add(const Json& fragment);

  const std::vector<ChatCall>& all() const { return calls_; }
  // Of all names and arguments, and one for each call.
  std::size_t bytes() const { return bytes_; }

 private:
  Result<ChatCall*> call_for(const Json& fragment, std::string_view name, std::string_view text);

  std::vector<ChatCall> calls_;
  std::size_t bytes_ = 0;
};

}  // namespace pawl::provider
