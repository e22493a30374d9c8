// Requests of dialects that differ in addresses and headers only.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

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
