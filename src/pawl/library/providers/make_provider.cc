// Real providers for hosts: Pawl's table of them, a dialect, and an HTTP client on the host's loop.
#include <algorithm>
#include <utility>

#include "pawl/adapter/http_curl/curl_client.h"
#include "pawl/adapter/provider/provider_executor.h"
#include "pawl/executor.h"
#include "pawl/models/providers/builtin_providers.h"

namespace pawl {
namespace {

// A key that is asked for when it is needed.
class HostKey final : public Secret {
 public:
  HostKey(std::string provider, std::function<Result<std::string>()> ask)
      : provider_(std::move(provider)), ask_(std::move(ask)) {}
  std::string origin() const override { return "the host's key for " + provider_; }
  Result<std::string> reveal() const override { return ask_(); }

 private:
  std::string provider_;
  std::function<Result<std::string>()> ask_;
};

Error unknown(const std::string& name) {
  std::string known;
  for (const BuiltinProvider& one : builtin_providers()) {
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  return Error{ErrorCode::not_found,
               "no provider is called '" + name + "' (there are: " + known + ")"};
}

}  // namespace

Result<std::shared_ptr<Executor>> make_provider(ProviderAccess access, SocketLoop& loop) {
  const auto& all = builtin_providers();
  const auto found = std::find_if(all.begin(), all.end(), [&](const BuiltinProvider& one) {
    return one.name == access.provider;
  });
  if (found == all.end()) return unknown(access.provider);
  if (!access.key && !found->key_variables.empty()) {
    return Error{ErrorCode::invalid_argument, access.provider + " wants a key: give one"};
  }
  ProviderConfig config;
  config.name = access.provider;
  config.dialect = found->dialect;
  config.base_url = access.base_url.empty() ? std::string(found->base_url) : access.base_url;
  if (access.key) config.key = std::make_shared<HostKey>(config.name, std::move(access.key));
  config.models = std::move(access.models);
  config.model_prefixes.assign(found->model_prefixes.begin(), found->model_prefixes.end());
  return make_provider_executor(std::move(config), loop, make_curl_client(loop));
}

}  // namespace pawl
