// fake-provider: a model provider on loopback.
#include <array>
#include <cstdint>
#include <limits>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"

namespace pawl {
namespace {

struct Variable {
  std::string_view name;
  std::string_view path;  // behind the base URL; empty with a value of its own
  std::string_view value;
};

// Long enough to be taken out of logs by those who do so.
constexpr std::string_view kKey = "fake-provider-key";

// What the official SDKs and the usual programs read.
constexpr std::array<Variable, 7> kVariables = {{
    {"ANTHROPIC_BASE_URL", "", ""},
    {"ANTHROPIC_API_KEY", "", kKey},
    {"OPENAI_BASE_URL", "/v1", ""},
    {"OPENAI_API_KEY", "", kKey},
    {"GOOGLE_GEMINI_BASE_URL", "", ""},
    {"GEMINI_API_KEY", "", kKey},
    {"OLLAMA_HOST", "/ollama", ""},
}};

std::string value_of(const Variable& variable, const std::string& url) {
  if (!variable.value.empty()) return std::string(variable.value);
  return url + std::string(variable.path);
}

std::string exports(const std::string& url) {
  std::string out;
  for (const Variable& variable : kVariables) {
    out += "export " + std::string(variable.name) + "=" + value_of(variable, url) + "\n";
  }
  return out;
}

std::string ready_json(const std::string& url) {
  JsonWriter json;
  json.begin_object().field("listening", url).key("environment").begin_object();
  for (const Variable& variable : kVariables) json.field(variable.name, value_of(variable, url));
  return json.end_object().end_object().take() + "\n";
}

Result<FakeProviderRequest> request_of(const Arguments& arguments) {
  FakeProviderRequest request;
  if (const auto text = arguments.one("port")) {
    PAWL_TRY(const std::uint64_t port, parse_count("port", *text));
    if (port > std::numeric_limits<std::uint16_t>::max()) {
      return Error{ErrorCode::invalid_argument, "--port is " + *text + ", and at most 65535"};
    }
    request.port = static_cast<std::uint16_t>(port);
  }
  request.script = arguments.one_or("script", "");
  request.faults = arguments.many("fault");
  request.replay = arguments.one_or("replay", "");
  request.record = arguments.one_or("record", "");
  request.upstream = arguments.one_or("upstream", "");
  if (request.record.empty() != request.upstream.empty()) {
    return Error{ErrorCode::invalid_argument, "--record and --upstream go together"};
  }
  const bool taped = !request.replay.empty() || !request.record.empty();
  if (!request.replay.empty() && !request.record.empty()) {
    return Error{ErrorCode::invalid_argument, "--replay and --record exclude each other"};
  }
  if (taped && (!request.script.empty() || !request.faults.empty())) {
    return Error{ErrorCode::invalid_argument,
                 "--script and --fault are not for what is replayed or recorded"};
  }
  return request;
}

int command_fake_provider(const CliContext& context) {
  const auto request = request_of(context.arguments);
  if (!request) return fail(context, request.error());
  const auto served =
      context.environment.serve_fake_provider(*request, [&](const std::string& url) {
        if (context.format() == Format::json) return print(context, ready_json(url));
        if (context.arguments.has("print-env")) return print(context, exports(url));
        print(context, "listening on " + url + "\n" + exports(url));
      });
  if (!served) return fail(context, served.error());
  if (context.format() == Format::json) {
    JsonWriter json;
    json.begin_object().field("requests", *served).end_object();
    print(context, json.take() + "\n");
  } else if (!context.arguments.has("print-env")) {
    print(context, std::to_string(*served) + " requests\n");
  }
  return kExitDone;
}

}  // namespace

CommandEntry fake_provider_entry() {
  return {
      .name = "fake-provider",
      .summary = "Serve a model provider on loopback that costs nothing",
      .text =
          "It speaks the wire formats of Anthropic, OpenAI and Gemini, echoes or follows a script, "
          "and fails on request: docs/fake-provider.md. Prints its address and the variables that "
          "point programs at it. Ctrl-C ends it.",
      .options = {{"port", '\0', Takes::value, "N", "Listen there. By default a free port."},
                  {"script", '\0', Takes::value, "FILE", "What to say, instead of the echo."},
                  {"fault", '\0', Takes::values, "FAULT",
                   "What is to go wrong: a kind, a status, or keys such as 'status: 429, times: "
                   "2'. Repeatable."},
                  {"replay", '\0', Takes::value, "FILE", "Answer from recordings."},
                  {"record", '\0', Takes::value, "FILE",
                   "Pass requests on, and record them in a new file."},
                  {"upstream", '\0', Takes::value, "URL", "Where to pass them on to."},
                  {"print-env", '\0', Takes::nothing, "",
                   "Print the variables only, for a shell."}},
      .run = command_fake_provider,
  };
}

}  // namespace pawl
