// A model server on this machine that nobody has configured: Ollama on its port.
#pragma once

#include <optional>
#include <string>

#include "pawl/result.h"

namespace pawl {

// How long somebody who has named no model waits for a server that does not answer.
inline constexpr int kLocalProbeMs = 300;
inline constexpr std::size_t kLocalProbeBytesMax = 256U << 10U;

// The first model that the Ollama at `base_url` has; nothing when nobody answers in time, when
// there is no model, or when the address is not one of this machine's own (loopback): nobody else
// is asked without having been configured.
std::optional<std::string> find_local_model(const std::string& base_url);

// Of an answer to GET /api/tags, head and body.
std::optional<std::string> first_model_in(const std::string& response);

}  // namespace pawl
