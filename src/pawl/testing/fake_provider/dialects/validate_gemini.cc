#include "pawl/testing/fake_provider/dialects/validate.h"

namespace pawl::fake {
namespace {

std::size_t count_parts(const Json& content, std::string_view key) {
  std::size_t count = 0;
  if (const JsonArray* parts = list_of(content, "parts")) {
    for (const Json& part : *parts) count += part.find(key) != nullptr ? 1U : 0U;
  }
  return count;
}

}  // namespace

std::optional<FakeError> check_gemini(const ModelRequest& request) {
  const JsonArray* contents = list_of(request.body, "contents");
  if (contents == nullptr || contents->empty()) {
    return invalid_request("* GenerateContentRequest.contents: contents is not specified\n");
  }
  std::size_t calls = 0;
  for (const Json& content : *contents) {
    const std::string role = text_of(content, "role");
    if (!role.empty() && role != "user" && role != "model" && role != "function") {
      return invalid_request("Please use a valid role: user, model.");
    }
    const std::size_t results = count_parts(content, "functionResponse");
    if (results != calls) {
      return invalid_request(
          "Please ensure that the number of function response parts is equal to the number of "
          "function call parts of the function call turn.");
    }
    calls = count_parts(content, "functionCall");
  }
  return std::nullopt;
}

}  // namespace pawl::fake
