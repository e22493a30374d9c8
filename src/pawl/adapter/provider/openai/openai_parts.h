// Pieces of messages that OpenAI's dialects write alike.
#pragma once

#include <string>

#include "pawl/adapter/provider/common/conversation.h"

namespace pawl::provider {

// "data:image/png;base64,…"
std::string data_url(const AttachmentPart& attachment);

// A document needs a name; not every attachment has one.
std::string file_name(const AttachmentPart& attachment);

// The dialects have no place for the outcome of a call but its text.
std::string result_text(const ResultPart& result);

}  // namespace pawl::provider
