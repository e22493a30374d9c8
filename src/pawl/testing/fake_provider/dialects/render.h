// Writes a reply in a provider's wire format, whole or as a stream. One file a format:
// render_anthropic.cc, render_responses.cc, render_chat.cc, render_gemini.cc.
//
// Everything is a function of the request, the reply and the request's number: ids, padding and
// times are the same in every run of a test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/base/rng.h"
#include "pawl/json.h"
#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/reply.h"

namespace pawl::fake {

struct RenderInput {
  const ModelRequest& request;
  const FakeReply& reply;
  std::uint64_t number = 1;  // of the request
};

// By the request's format. reply.error must be empty: see render_error().
Rendered render(const RenderInput& input);
Rendered render_anthropic(const RenderInput& input);
Rendered render_responses(const RenderInput& input);
Rendered render_chat(const RenderInput& input);
Rendered render_gemini(const RenderInput& input);

// An error in the vendor's shape, with its headers.
Rendered render_error(Vendor vendor, const FakeError& error, std::uint64_t number);
// An error inside a stream, behind `events` of it.
Frame render_error_event(const ModelRequest& request, const FakeError& error, std::size_t events);
// The vendor's word for a status: "overloaded_error", "UNAVAILABLE".
std::string_view error_type(Vendor vendor, int status);

Rendered json_reply(int status, Headers headers, std::string body);
// What every reply of the vendor carries: request id, rate limits, versions.
Headers vendor_headers(Vendor vendor, std::uint64_t number);

FakeUsage usage_of(const RenderInput& input);
// A token count, or what lying_usage puts in its place.
void put_count(JsonWriter& json, const RenderInput& input, std::string_view key,
               std::uint64_t count);
bool omits_usage(const RenderInput& input);

// Letters and digits that look like a provider's, from a seed.
class Ids {
 public:
  explicit Ids(std::uint64_t number) : rng_(number * 0x9E3779B97F4A7C15ULL + 1) {}
  std::string letters(std::size_t count);  // [0-9A-Za-z]
  std::string hex(std::size_t count);
  std::string padding(std::size_t max);  // spaces

 private:
  Rng rng_;
};

// Seconds since 1970: fixed, and a second later for each request.
std::uint64_t created_at(std::uint64_t number);

// Deltas in which the input of a call is streamed.
std::vector<std::string> input_deltas(const std::string& input);

}  // namespace pawl::fake
