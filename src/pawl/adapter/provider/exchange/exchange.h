// What all requests to a provider share: the key, which is known only while a request is sent or
// read, the debug lines, and what failures of the network mean.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/provider_executor.h"

namespace pawl::provider {

// Of a body that is shown to somebody who debugs.
inline constexpr std::size_t kDebugBodyBytesMax = 64U << 10U;

// The request with its credentials. not_found: there is no key, with the remedy.
Result<HttpRequest> http_request(WireRequest wire, const ProviderConfig& config,
                                 const Dialect& dialect);

// Without anything that looks like the key.
std::string scrubbed(std::string_view text, const ProviderConfig& config);
PhaseFailed scrubbed(PhaseFailed failed, const ProviderConfig& config);

void debug_request(const ProviderConfig& config, const HttpRequest& request);
void debug_response(const ProviderConfig& config, const HttpResponseHead& head,
                    std::string_view body);

PhaseFailed failure_of_http(const HttpEnd& end);

}  // namespace pawl::provider
