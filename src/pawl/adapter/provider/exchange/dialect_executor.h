// The executor behind make_provider_executor(), for any dialect.
#pragma once

#include <memory>

#include "pawl/adapter/provider/dialect.h"
#include "pawl/adapter/provider/provider_executor.h"

namespace pawl::provider {

std::shared_ptr<Executor> make_dialect_executor(ProviderConfig config,
                                                std::shared_ptr<const Dialect> dialect, Loop& loop,
                                                std::shared_ptr<HttpClient> http);

}  // namespace pawl::provider
