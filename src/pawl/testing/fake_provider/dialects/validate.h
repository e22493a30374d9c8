// Refuses what the real providers refuse, in their words. The messages are those of recorded
// traffic where there is some, and written from memory otherwise.
#pragma once

#include <optional>

#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/reply.h"
#include "pawl/testing/fake_provider/script.h"

namespace pawl::fake {

// What is wrong with the head: method, key, version.
std::optional<FakeError> check_head(const ServerRequest& request, const Route& route,
                                    KeyCheck keys);
std::optional<FakeError> unknown_model(const ModelRequest& request);
// What is wrong with the body.
std::optional<FakeError> check_body(const ModelRequest& request);
std::optional<FakeError> check_anthropic(const ModelRequest& request);
std::optional<FakeError> check_chat(const ModelRequest& request);
std::optional<FakeError> check_responses(const ModelRequest& request);
std::optional<FakeError> check_gemini(const ModelRequest& request);

FakeError invalid_request(std::string message, std::string param = {}, std::string code = {});
// The list that is a member of the body; null when it is no list.
const JsonArray* list_of(const Json& body, std::string_view key);
std::string text_of(const Json& value, std::string_view key);

}  // namespace pawl::fake
