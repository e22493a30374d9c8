// A provider as configurations and charters declare it. Plain data: which executor speaks its
// dialect, and where its key is, is the composition root's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/models/catalogue.h"
#include "pawl/models/secret_reference.h"

namespace pawl {

inline constexpr std::array<std::string_view, 4> kDialectWords = {"anthropic", "openai_responses",
                                                                  "openai_chat", "gemini"};
inline constexpr std::int64_t kConcurrencyMax = 1024;
inline constexpr std::size_t kHeadersMax = 32;
inline constexpr std::size_t kHeaderBytesMax = 4096;
inline constexpr std::size_t kQuirksMax = 32;
inline constexpr std::size_t kBaseUrlBytesMax = 1024;
inline constexpr std::int64_t kTimeoutMaxMs = 24LL * 3600 * 1000;

struct DeclaredHeader {
  std::string name;
  std::variant<std::string, SecretReference> value;

  friend bool operator==(const DeclaredHeader&, const DeclaredHeader&) = default;
};

struct NoKey {
  friend bool operator==(const NoKey&, const NoKey&) = default;
};

// What is not given stays as it is by default, or as the built-in provider of this name has it.
struct ProviderDeclaration {
  std::string name;
  std::optional<std::string> dialect;   // one of kDialectWords
  std::optional<std::string> base_url;  // without a slash at its end
  std::optional<std::variant<NoKey, SecretReference>> key;
  std::vector<DeclaredHeader> headers;
  std::vector<std::string> quirks;
  enum class Resume : std::uint8_t { replay, session };
  std::optional<Resume> resume;
  enum class Http : std::uint8_t { one, automatic, two };
  std::optional<Http> http;
  std::optional<std::size_t> concurrency;
  std::optional<std::size_t> model_concurrency;
  std::optional<std::int64_t> connect_ms;
  std::optional<std::int64_t> first_byte_ms;
  std::optional<std::int64_t> idle_ms;
  std::optional<std::int64_t> total_ms;
  std::optional<std::int64_t> progress_ms;
  std::vector<std::pair<std::string, ModelFacts>> models;  // ids as the provider knows them
  std::optional<std::vector<std::string>> model_prefixes;  // of ids that are not listed
  Mark mark;
};

// The section `providers` of a configuration or a charter.
std::vector<ProviderDeclaration> read_providers(const Node& node, std::vector<Fault>& faults);

// http:// or https://, a host, no user, query or fragment; slashes at the end are cut off. nullopt:
// it is none.
std::optional<std::string> normal_base_url(std::string_view text);

}  // namespace pawl
