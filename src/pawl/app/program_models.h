// What the program brings to its layer of models.
#pragma once

#include <memory>

#include "pawl/adapter/host/secrets.h"
#include "pawl/assembly/model_layer.h"
#include "pawl/filter/secrets/known_secrets.h"

namespace pawl {

using AdmitCommand = std::function<Status(const std::vector<std::string>& arguments)>;

// The configuration file, where secrets are, YAML. `known` learns every key; `admit` is asked
// before a command that gives one is started (SecretSources). The options' path, environment and
// note count as they are now.
ModelLayerOptions with_program_parts(
    ModelLayerOptions options,
    const std::shared_ptr<KnownSecrets>& known = std::make_shared<KnownSecrets>(),
    AdmitCommand admit = {});

}  // namespace pawl
