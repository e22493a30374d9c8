// The providers there are: those the program knows, those the configuration or a charter declares,
// with what the environment says about them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/models/catalogue.h"
#include "pawl/models/model_pool.h"
#include "pawl/models/provider_declaration.h"
#include "pawl/port/environment_reader.h"
#include "pawl/port/provider.h"

namespace pawl {

// Makes the executor of a provider. The program's is make_provider_executor() over HTTP.
using ExecutorFactory = std::function<std::shared_ptr<Executor>(ProviderConfig)>;

// Where the values are that a declaration only names.
struct ProviderSources {
  EnvironmentReader environment;
  std::shared_ptr<const SecretFinder> secrets;
  std::string directory;  // where relative paths start
  // invalid_argument: quirks that the dialect does not know. Null: all are taken.
  std::function<Status(const ProviderConfig&)> check_quirks = {};
};

struct ProviderSetup {
  ProviderConfig config;
  GateBounds bounds;
  std::string missing;  // what it lacks ("set ANTHROPIC_API_KEY"); empty: nothing
  // Whether somebody asked for it: a key, an address or a declaration of it is there. Ollama needs
  // none of them, and is not there for that.
  enum class Wanted : std::uint8_t { no, yes } wanted = Wanted::no;
};

// Every provider the program knows, changed by the declaration of its name, then the others that
// are declared. invalid_argument: a declaration that lacks something, or a value in the environment
// that is no address.
Result<std::vector<ProviderSetup>> set_up_providers(
    const std::vector<ProviderDeclaration>& declared, const Catalogue& catalogue,
    const ProviderSources& sources);

// Those of a charter: names that `taken` has already are refused.
Result<std::vector<ProviderSetup>> set_up_charter_providers(
    const std::vector<ProviderDeclaration>& declared, const ModelPool& taken,
    const Catalogue& catalogue, const ProviderSources& sources);

}  // namespace pawl
