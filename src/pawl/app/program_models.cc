#include "pawl/app/program_models.h"

#include <utility>

#include "pawl/adapter/provider/provider_executor.h"
#include "pawl/adapter/yaml/yaml.h"
#include "pawl/app/configuration.h"

namespace pawl {

ModelLayerOptions with_program_parts(ModelLayerOptions options,
                                     const std::shared_ptr<KnownSecrets>& known,
                                     AdmitCommand admit) {
  options.configuration = [path = options.config]() -> Result<ModelConfiguration> {
    PAWL_TRY(ConfigurationFile file, load_configuration(path));
    return std::move(file.models);
  };
  options.parse = [](std::string_view text) { return parse_yaml(text); };
  options.check_quirks = check_quirks;
  SecretSources sources;
  sources.environment = options.environment;
  sources.learn = [known](const std::string& name, const std::string& value) {
    return advice_on(known->add(name, value));
  };
  sources.warn = options.note;
  sources.admit = std::move(admit);
  options.secrets = std::make_shared<HostSecrets>(std::move(sources));
  return options;
}

}  // namespace pawl
