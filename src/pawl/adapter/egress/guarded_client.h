// An HTTP client that connects only to what a guard has vetted. For everything whose URL a model,
// a project or a server may choose: http_fetch, MCP over HTTP, webhooks.
//
// Each hop of a redirect is read, vetted and dialled anew, at most `redirects_max` of them, never
// from https to http; to another origin go neither credentials nor a body. Time and bytes are
// bounded over all hops together. A refusal is HttpFailure::invalid, and its message says what is
// allowed.
#pragma once

#include <memory>

#include "pawl/loop.h"
#include "pawl/port/egress.h"
#include "pawl/port/http.h"

namespace pawl {

// Used on the loop's thread; the loop outlives it and its operations. `client` must honour
// HttpRequest::address.
std::shared_ptr<HttpClient> make_guarded_client(Loop& loop, std::shared_ptr<HttpClient> client,
                                                std::shared_ptr<EgressGuard> guard);

}  // namespace pawl
