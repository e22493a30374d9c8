// Requests of dialects that differ in addresses and headers only.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "pawl/adapter/provider/common/kept_turns.h"
#include "pawl/adapter/provider/dialect.h"

namespace pawl::provider {

// Those of JSON, then the dialect's own, then the operator's.
inline std::vector<HttpHeader> json_headers(const WireOptions& options,
                                            std::vector<HttpHeader> own = {}) {
  std::vector<HttpHeader> all = {{"content-type", "application/json"}};
  std::move(own.begin(), own.end(), std::back_inserter(all));
  all.insert(all.end(), options.headers.begin(), options.headers.end());
  return all;
}

// For dialects that have none (chat_quirks.h).
inline Status check_no_quirks(const WireOptions& options) {
  if (options.quirks.empty()) return ok();
  return Error{ErrorCode::invalid_argument,
               "there are no quirks of this dialect, but " + options.quirks.front() + " is set"};
}

// A body whose turns stand in it as they were written. `head` is an object whose last member is a
// list, which goes on with the turns; `rest` is an object of the members behind it.
inline HttpBody body_around(std::string head, const KeptTurns& turns,
                            const std::vector<Insertion>& insertions, const std::string& rest) {
  head.resize(head.size() - 2);  // "]}"
  if (head.back() != '[' && turns.written_bytes() > 0) head += ',';
  HttpBody body(std::move(head));
  turns.append_to(body, insertions);
  body.append(rest == "{}" ? "]}" : "]," + rest.substr(1));
  return body;
}

// It is answered by events unless streaming is off.
inline WireRequest json_post(std::string url, std::vector<HttpHeader> headers, HttpBody body,
                             Streaming stream) {
  WireRequest wire;
  wire.url = std::move(url);
  wire.headers = std::move(headers);
  wire.body = std::move(body);
  const bool streams = stream != Streaming::off;
  wire.framing = streams ? WireRequest::Framing::events : WireRequest::Framing::whole;
  return wire;
}

// The list of models: free, and refused without a good key.
inline WireRequest list_probe(std::string url, std::vector<HttpHeader> headers) {
  WireRequest wire;
  wire.method = "GET";
  wire.url = std::move(url);
  wire.headers = std::move(headers);
  wire.framing = WireRequest::Framing::whole;
  return wire;
}

}  // namespace pawl::provider
