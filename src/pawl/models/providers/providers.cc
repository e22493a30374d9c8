#include "pawl/models/providers/providers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/models/providers/builtin_providers.h"

namespace pawl {
namespace {

using Wanted = ProviderSetup::Wanted;

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOpenAiHeaders = {{
    {"OPENAI_ORG_ID", "OpenAI-Organization"},
    {"OPENAI_PROJECT_ID", "OpenAI-Project"},
}};

// What a provider is made of before it becomes one.
struct Draft {
  ProviderSetup setup;
  std::optional<SecretReference> secret;  // of the key, when a declaration names it
  std::vector<std::string> variables;     // else: of the key
};

ProviderDialect dialect_of(const std::string& word) {
  const auto at = std::find(kDialectWords.begin(), kDialectWords.end(), word);
  static_assert(static_cast<int>(ProviderDialect::gemini) + 1 == kDialectWords.size());
  return static_cast<ProviderDialect>(at - kDialectWords.begin());
}

// What Ollama makes of its variable: scheme, host, port and the brackets of an address may be left
// out, and what its server binds is where it is to be found.
std::string ollama_address(std::string_view text) {
  const std::size_t scheme_end = text.find("://");
  const bool has_scheme = scheme_end != text.npos;
  const std::string scheme(has_scheme ? text.substr(0, scheme_end + 3) : "http://");
  if (has_scheme) text.remove_prefix(scheme.size());
  std::string_view host = text.substr(0, text.find('/'));
  const std::string path(text.substr(host.size()));
  const bool bare = !host.starts_with('[') && std::count(host.begin(), host.end(), ':') > 1;
  const std::size_t colon = bare || host.ends_with(']') ? host.npos : host.rfind(':');
  std::string port(colon == host.npos ? "" : host.substr(colon));
  host = host.substr(0, colon);
  if (port.empty() && !has_scheme) port = ":11434";
  std::string name = bare ? "[" + std::string(host) + "]" : std::string(host);
  if (name.empty() || name == "0.0.0.0") name = "127.0.0.1";
  if (name == "[::]") name = "[::1]";
  return scheme + name + port + path;
}

Status take_address(const BuiltinProvider& builtin, const EnvironmentReader& environment,
                    ProviderSetup& setup) {
  setup.config.base_url = builtin.base_url;
  for (const std::string_view variable : builtin.base_variables) {
    const auto given = environment(std::string(variable));
    if (!given) continue;
    const auto address =
        normal_base_url(builtin.name == "ollama" ? ollama_address(*given) : *given);
    if (!address) {
      return Error{ErrorCode::invalid_argument,
                   std::string(variable) + " is not an address of a server"};
    }
    setup.config.base_url = *address;
    setup.wanted = Wanted::yes;
    break;
  }
  return ok();
}

Result<Draft> draft_of(const BuiltinProvider& builtin, const ProviderSources& sources) {
  Draft draft;
  ProviderConfig& config = draft.setup.config;
  config.name = builtin.name;
  config.dialect = builtin.dialect;
  config.model_prefixes.assign(builtin.model_prefixes.begin(), builtin.model_prefixes.end());
  draft.variables.assign(builtin.key_variables.begin(), builtin.key_variables.end());
  PAWL_CHECK(take_address(builtin, sources.environment, draft.setup));
  if (builtin.name != "openai") return draft;
  for (const auto& [variable, header] : kOpenAiHeaders) {
    if (auto value = sources.environment(std::string(variable))) {
      config.headers.push_back({std::string(header), *std::move(value)});
    }
  }
  return draft;
}

void add_headers(const ProviderDeclaration& declared, const ProviderSources& sources,
                 ProviderSetup& setup) {
  for (const DeclaredHeader& header : declared.headers) {
    if (const auto* text = std::get_if<std::string>(&header.value)) {
      setup.config.headers.push_back({header.name, *text});
      continue;
    }
    const SecretHandle secret =
        sources.secrets->find(std::get<SecretReference>(header.value), sources.directory);
    if (const auto value = secret->reveal(); !value) {
      setup.missing = "header " + header.name + ": " + value.error().message;
    }
    setup.config.secret_headers.push_back({header.name, "", secret});
  }
}

void set_deadlines(const ProviderDeclaration& declared, ProviderDeadlines& out) {
  out.http.connect_ms = declared.connect_ms.value_or(out.http.connect_ms);
  out.http.first_byte_ms = declared.first_byte_ms.value_or(out.http.first_byte_ms);
  out.http.idle_ms = declared.idle_ms.value_or(out.http.idle_ms);
  out.http.total_ms = declared.total_ms.value_or(out.http.total_ms);
  out.progress_ms = declared.progress_ms.value_or(out.progress_ms);
}

void change(const ProviderDeclaration& declared, const ProviderSources& sources, Draft& draft) {
  ProviderConfig& config = draft.setup.config;
  draft.setup.wanted = Wanted::yes;
  if (declared.dialect) config.dialect = dialect_of(*declared.dialect);
  if (declared.base_url) config.base_url = *declared.base_url;
  if (declared.key) {
    draft.variables.clear();
    draft.secret.reset();
    if (const auto* secret = std::get_if<SecretReference>(&*declared.key)) draft.secret = *secret;
  }
  if (declared.resume) {
    config.resume = static_cast<ProviderConfig::Resume>(*declared.resume);
  }
  if (declared.http) config.http = static_cast<HttpVersion>(*declared.http);
  if (declared.model_prefixes) config.model_prefixes = *declared.model_prefixes;
  config.quirks = declared.quirks;
  GateBounds& bounds = draft.setup.bounds;
  bounds.together_max = declared.concurrency.value_or(bounds.together_max);
  bounds.model_together_max = declared.model_concurrency.value_or(bounds.together_max);
  set_deadlines(declared, config.deadlines);
  add_headers(declared, sources, draft.setup);
}

// Finds out whether there is a key, as far as that can be seen without running anything.
void find_key(const ProviderSources& sources, Draft& draft) {
  ProviderSetup& setup = draft.setup;
  if (draft.secret) {
    setup.config.key = sources.secrets->find(*draft.secret, sources.directory);
    if (draft.secret->kind == SecretReference::Kind::command) return;
    const auto value = setup.config.key->reveal();
    if (!value) setup.missing = value.error().message;
    return;
  }
  if (draft.variables.empty()) return;
  setup.config.key = sources.secrets->find_variable(draft.variables);
  if (setup.config.key->reveal()) {
    setup.wanted = Wanted::yes;
    return;
  }
  // What proxies of Anthropic's API and subscriptions use in place of a key.
  const SecretHandle token = sources.secrets->find_variable({"ANTHROPIC_AUTH_TOKEN"});
  const auto bearer =
      setup.config.name == "anthropic" ? token->reveal() : Error{ErrorCode::not_found, ""};
  if (!bearer) {
    setup.missing = "set " + draft.variables.front();
    return;
  }
  setup.wanted = Wanted::yes;
  setup.config.key = nullptr;
  setup.config.secret_headers.push_back({"Authorization", "Bearer ", token});
}

void add_models(const ProviderDeclaration* declared, Catalogue catalogue, ProviderConfig& config) {
  if (declared != nullptr) {
    for (const auto& [id, facts] : declared->models) {
      catalogue.merge(config.name + "/" + id, facts);
    }
  }
  config.models = catalogue.models_of(config.name);
}

// The dialect's own path begins with the version.
void cut_version(ProviderConfig& config) {
  constexpr std::string_view kVersion = "/v1";
  if (config.dialect != ProviderDialect::anthropic || !config.base_url.ends_with(kVersion)) return;
  config.base_url.resize(config.base_url.size() - kVersion.size());
}

// What a dialect would not act upon is refused.
Status check_options(const ProviderConfig& config, const ProviderSources& sources) {
  const bool responses = config.dialect == ProviderDialect::openai_responses;
  const bool openai = responses || config.dialect == ProviderDialect::openai_chat;
  if (config.resume == ProviderConfig::Resume::session && !responses) {
    return Error{ErrorCode::invalid_argument,
                 "the provider " + config.name +
                     " cannot resume sessions: only the dialect openai_responses can"};
  }
  if (config.quirks.empty()) return ok();
  if (!openai) {
    return Error{ErrorCode::invalid_argument,
                 "the provider " + config.name + " has quirks, and its dialect knows none"};
  }
  return sources.check_quirks ? sources.check_quirks(config) : ok();
}

Result<ProviderSetup> finished(Draft draft, const ProviderDeclaration* declared,
                               const Catalogue& catalogue, const ProviderSources& sources) {
  PAWL_CHECK(check_options(draft.setup.config, sources));
  find_key(sources, draft);
  add_models(declared, catalogue, draft.setup.config);
  cut_version(draft.setup.config);
  return std::move(draft.setup);
}

Result<ProviderSetup> set_up_declared(const ProviderDeclaration& declared,
                                      const Catalogue& catalogue, const ProviderSources& sources) {
  if (!declared.dialect || !declared.base_url) {
    return Error{
        ErrorCode::invalid_argument,
        "the provider " + declared.name + " is not known here: it needs a dialect and a base_url"};
  }
  Draft draft;
  draft.setup.config.name = declared.name;
  // A server without a list of models takes any.
  if (declared.models.empty()) draft.setup.config.model_prefixes = {""};
  change(declared, sources, draft);
  return finished(std::move(draft), &declared, catalogue, sources);
}

const ProviderDeclaration* find_declared(const std::vector<ProviderDeclaration>& declared,
                                         std::string_view name) {
  const auto found = std::find_if(declared.begin(), declared.end(),
                                  [name](const auto& one) { return one.name == name; });
  return found == declared.end() ? nullptr : &*found;
}

bool is_builtin(std::string_view name) {
  const auto& all = builtin_providers();
  return std::any_of(all.begin(), all.end(), [name](const auto& one) { return one.name == name; });
}

}  // namespace

Result<std::vector<ProviderSetup>> set_up_providers(
    const std::vector<ProviderDeclaration>& declared, const Catalogue& catalogue,
    const ProviderSources& sources) {
  std::vector<ProviderSetup> setups;
  for (const BuiltinProvider& builtin : builtin_providers()) {
    PAWL_TRY(Draft draft, draft_of(builtin, sources));
    const ProviderDeclaration* declaration = find_declared(declared, builtin.name);
    if (declaration != nullptr) change(*declaration, sources, draft);
    PAWL_TRY(ProviderSetup setup, finished(std::move(draft), declaration, catalogue, sources));
    setups.push_back(std::move(setup));
  }
  for (const ProviderDeclaration& declaration : declared) {
    if (is_builtin(declaration.name)) continue;
    PAWL_TRY(ProviderSetup setup, set_up_declared(declaration, catalogue, sources));
    setups.push_back(std::move(setup));
  }
  return setups;
}

Result<std::vector<ProviderSetup>> set_up_charter_providers(
    const std::vector<ProviderDeclaration>& declared, const ModelPool& taken,
    const Catalogue& catalogue, const ProviderSources& sources) {
  std::vector<ProviderSetup> setups;
  for (const ProviderDeclaration& declaration : declared) {
    // A charter must not redirect the key of a provider that the operator configured.
    if (taken.find(declaration.name) != nullptr || is_builtin(declaration.name)) {
      return Error{ErrorCode::conflict, "there is a provider " + declaration.name +
                                            " already: a charter names its own differently"};
    }
    PAWL_TRY(ProviderSetup setup, set_up_declared(declaration, catalogue, sources));
    setups.push_back(std::move(setup));
  }
  return setups;
}

}  // namespace pawl
