#include "pawl/models/provider_declaration.h"

#include <algorithm>

#include "pawl/models/model_pool.h"

namespace pawl {

namespace {

constexpr std::array<std::string_view, 2> kResumeWords = {"replay", "session"};
constexpr std::array<std::string_view, 3> kHttpWords = {"1.1", "auto", "2"};
constexpr std::size_t kPrefixesMax = 64;

bool is_header_name(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  const auto accepted = [kOthers](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kHeaderBytesMax &&
         std::all_of(text.begin(), text.end(), accepted);
}

bool is_header_value(std::string_view text) {
  const auto refused = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return text.size() <= kHeaderBytesMax && std::none_of(text.begin(), text.end(), refused);
}

// Those whose value is a credential may not stand here in clear.
bool is_secret_header(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const std::string_view word : {"authorization", "key", "token", "secret", "cookie"}) {
    if (name.find(word) != std::string::npos) return true;
  }
  return false;
}

void read_header(MapReader& reader, const Member& member, const std::string& where,
                 std::vector<Fault>& faults, std::vector<DeclaredHeader>& headers) {
  if (!is_header_name(member.key)) {
    return reader.fault(member.key_mark, quoted(member.key) + " is not a name of a header");
  }
  const auto text = member.value.as_string();
  const bool refers = !text || text->starts_with("env:") || text->starts_with("file:") ||
                      text->starts_with("command:");
  if (refers || is_secret_header(member.key)) {
    const auto secret = read_secret_reference(member.value, where, member.key, faults);
    if (secret) headers.push_back({member.key, *secret});
  } else if (!is_header_value(*text)) {
    reader.fault(member.value.mark(), quoted(member.key) + " has a value that no header can have");
  } else {
    headers.push_back({member.key, std::string(*text)});
  }
}

void read_headers(const Node& node, const std::string& where, std::vector<Fault>& faults,
                  std::vector<DeclaredHeader>& headers) {
  MapReader reader(node, faults, where);
  if (node.members().size() > kHeadersMax) {
    return reader.fault(node.mark(), "there may be " + std::to_string(kHeadersMax) + " headers");
  }
  for (const Member& member : node.members()) {
    read_header(reader, member, where, faults, headers);
  }
}

void take_time(MapReader& reader, std::string_view key, std::optional<std::int64_t>& out) {
  std::int64_t value = 0;
  if (reader.take_duration_ms(key, {1, kTimeoutMaxMs}, value)) out = value;
}

void read_timeouts(const Node& node, const std::string& where, std::vector<Fault>& faults,
                   ProviderDeclaration& out) {
  MapReader reader(node, faults, where);
  take_time(reader, "connect", out.connect_ms);
  take_time(reader, "first_byte", out.first_byte_ms);
  take_time(reader, "idle", out.idle_ms);
  take_time(reader, "total", out.total_ms);
  take_time(reader, "progress", out.progress_ms);
  reader.finish();
}

void read_models(const Node& node, const std::string& where, std::vector<Fault>& faults,
                 ProviderDeclaration& out) {
  MapReader reader(node, faults, where);
  if (node.members().size() > kCatalogueModelsMax) {
    return reader.fault(node.mark(),
                        "there may be " + std::to_string(kCatalogueModelsMax) + " models");
  }
  for (const Member& member : node.members()) {
    if (member.key.empty() || member.key.size() > kModelLiteralBytesMax) {
      reader.fault(member.key_mark, quoted(member.key) + " is not an id of a model");
      continue;
    }
    const bool bare = member.value.kind() == Node::Kind::null;  // `qwen3:` with nothing to say
    out.models.emplace_back(
        member.key,
        bare ? ModelFacts{} : read_model_facts(member.value, faults, where + "." + member.key));
  }
}

void take_base_url(MapReader& reader, const Node& node, ProviderDeclaration& out) {
  std::string text;
  if (!reader.take_string("base_url", text)) return;
  out.base_url = normal_base_url(text);
  if (out.base_url) return;
  reader.fault(node.find("base_url")->mark(), "\"base_url\" is not an address of a server",
               "for example http://127.0.0.1:8000");
}

void take_key(MapReader& reader, const std::string& where, std::vector<Fault>& faults,
              ProviderDeclaration& out) {
  const Node* key = reader.take("key");
  if (key == nullptr) return;
  if (key->as_string() == "none") {
    out.key = NoKey{};
  } else if (const auto secret = read_secret_reference(*key, where, "key", faults)) {
    out.key = *secret;
  }
}

// Two of the words are numbers to YAML, and are meant as they are written.
void take_http(MapReader& reader, ProviderDeclaration& out) {
  const Node* const node = reader.take("http");
  if (node == nullptr) return;
  const auto found = std::find(kHttpWords.begin(), kHttpWords.end(), node->text());
  if (found == kHttpWords.end()) {
    return reader.fault(node->mark(), "\"http\" must be 1.1, 2 or auto");
  }
  out.http = static_cast<ProviderDeclaration::Http>(found - kHttpWords.begin());
  if (out.http == ProviderDeclaration::Http::two && out.base_url &&
      out.base_url->starts_with("http://")) {
    reader.fault(node->mark(), "HTTP/2 is spoken over https only",
                 "http: auto, or a base_url with https");
  }
}

void take_counts(MapReader& reader, ProviderDeclaration& out) {
  std::size_t count = 0;
  if (reader.take_int("concurrency", {1, kConcurrencyMax}, count)) out.concurrency = count;
  if (reader.take_int("model_concurrency", {1, kConcurrencyMax}, count)) {
    out.model_concurrency = count;
  }
}

void take_words(MapReader& reader, const Node& node, ProviderDeclaration& out) {
  if (const auto index = reader.take_choice("dialect", kDialectWords)) {
    out.dialect = std::string(kDialectWords[*index]);
  }
  if (const auto index = reader.take_choice("resume", kResumeWords)) {
    out.resume = static_cast<ProviderDeclaration::Resume>(*index);
  }
  if (reader.take_string_list("quirks", out.quirks) && out.quirks.size() > kQuirksMax) {
    reader.fault(node.find("quirks")->mark(),
                 "there may be " + std::to_string(kQuirksMax) + " quirks");
  }
  std::vector<std::string> prefixes;
  if (reader.take_string_list("model_prefixes", prefixes)) {
    if (prefixes.size() > kPrefixesMax) {
      reader.fault(node.find("model_prefixes")->mark(),
                   "there may be " + std::to_string(kPrefixesMax) + " prefixes");
    }
    out.model_prefixes = std::move(prefixes);
  }
}

ProviderDeclaration read_provider(const Member& member, std::vector<Fault>& faults) {
  ProviderDeclaration out;
  out.name = member.key;
  out.mark = member.key_mark;
  const std::string where = "providers." + member.key;
  MapReader reader(member.value, faults, where);
  take_words(reader, member.value, out);
  take_base_url(reader, member.value, out);
  take_http(reader, out);
  take_key(reader, where, faults, out);
  take_counts(reader, out);
  if (const Node* node = reader.take("headers")) {
    read_headers(*node, where + ".headers", faults, out.headers);
  }
  if (const Node* node = reader.take("timeouts")) {
    read_timeouts(*node, where + ".timeouts", faults, out);
  }
  if (const Node* node = reader.take("models")) read_models(*node, where + ".models", faults, out);
  reader.finish();
  return out;
}

}  // namespace

std::optional<std::string> normal_base_url(std::string_view text) {
  if (text.size() > kBaseUrlBytesMax) return std::nullopt;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return std::nullopt;
  }
  const auto refused = [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == '@' || c == '?' || c == '#';
  };
  if (std::any_of(rest.begin(), rest.end(), refused)) return std::nullopt;
  while (!text.empty() && text.back() == '/') text.remove_suffix(1);
  const std::string_view host = rest.substr(0, rest.find('/'));
  if (host.empty() || host.front() == ':') return std::nullopt;
  return std::string(text);
}

std::vector<ProviderDeclaration> read_providers(const Node& node, std::vector<Fault>& faults) {
  std::vector<ProviderDeclaration> providers;
  MapReader reader(node, faults, "providers");
  if (node.members().size() > kProvidersMax) {
    reader.fault(node.mark(), "there may be " + std::to_string(kProvidersMax) + " providers");
    return providers;
  }
  for (const Member& member : node.members()) {
    if (!is_provider_name(member.key) || member.key == "scripted" || member.key == "external") {
      reader.fault(member.key_mark, quoted(member.key) + " is not a name of a provider",
                   "lower case letters, digits, '_' and '-', the first a letter");
      continue;
    }
    providers.push_back(read_provider(member, faults));
  }
  return providers;
}

}  // namespace pawl
