// Marks are words that no other text of a history has: where one turns up, its text has arrived.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/content.h"

namespace pawl::sim {

// In their order; a mark looks like "#12;".
std::vector<std::string> marks_in(std::string_view text);
// Of all that was said by others than the model itself: marks of one message after those before it.
std::vector<std::string> marks_heard(const std::vector<Message>& messages);
// "" where the bytes are not at hand.
std::string bytes_of(const Content& content);

// RFC 7396, written for the oracle alone. Both are JSON objects with values of any kind.
std::string merged(const std::string& value, const std::string& patch);
bool same_json(const std::string& a, const std::string& b);
// A member of a JSON object: a string as it is, anything else as JSON; "" where there is none.
std::string member_of(const std::string& object, std::string_view key);

}  // namespace pawl::sim
