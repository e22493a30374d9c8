// The providers that the program knows by name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pawl/port/provider.h"

namespace pawl {

struct BuiltinProvider {
  std::string_view name;
  ProviderDialect dialect = ProviderDialect::openai_chat;
  std::string_view base_url;
  std::vector<std::string_view> base_variables;  // the first that is set replaces the address
  std::vector<std::string_view> key_variables;   // none: it wants no key
  std::vector<std::string_view> model_prefixes;  // of models that are not listed
};

const std::vector<BuiltinProvider>& builtin_providers();

}  // namespace pawl
