// A provider of models that is reached over HTTP: what an executor for it is made from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pawl/executor.h"
#include "pawl/port/byte_filter.h"
#include "pawl/port/http.h"
#include "pawl/port/secrets.h"

namespace pawl {

enum class ProviderDialect : std::uint8_t { anthropic, openai_responses, openai_chat, gemini };

// Two watchdogs. The first is for bytes (HttpDeadlines::idle_ms); keep-alives satisfy it. The
// second is for progress: something that brings the reply further. Models think for minutes.
struct ProviderDeadlines {
  HttpDeadlines http;
  std::int64_t progress_ms = 600'000;
};

// A header whose value is asked for with each request, so that a changed one is used at once.
struct SecretHeader {
  std::string name;
  std::string prefix;  // "Bearer "; may be empty
  SecretHandle value;
};

struct ProviderConfig {
  std::string name;  // what "provider/model" begins with
  ProviderDialect dialect = ProviderDialect::openai_chat;
  std::string base_url;                         // "https://api.anthropic.com"
  SecretHandle key;                             // null: the provider wants none (Ollama)
  std::vector<HttpHeader> headers;              // of the operator's own
  std::vector<SecretHeader> secret_headers;     // likewise
  std::vector<ExecutorModelDescriptor> models;  // ids as the provider knows them
  // Whether models that are not listed are asked for, too (supports() says so): a local server
  // has what its owner pulled, Anthropic takes any "claude-".
  std::vector<std::string> model_prefixes;
  std::vector<std::string> quirks;
  enum class Resume : std::uint8_t { replay, session } resume = Resume::replay;
  HttpVersion http = HttpVersion::automatic;
  ProviderDeadlines deadlines;
  std::uint64_t reply_bytes_max = 64U << 20U;
  // Everything that the provider says of errors, and every debug line, passes this; null: only the
  // key itself is taken out.
  std::shared_ptr<const ByteFilter> filter = {};
  // Gets each request and response, without credentials, one line each, when somebody debugs.
  std::function<void(const std::string&)> debug;
};

}  // namespace pawl
