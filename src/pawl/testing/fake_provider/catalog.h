// What the providers answer besides replies: lists of models, counts of tokens, versions.
#pragma once

#include <string>

#include "pawl/testing/fake_provider/dialects/model_request.h"
#include "pawl/testing/fake_provider/script.h"

namespace pawl::fake {

// The models that lists name: the script's, or a few of each vendor.
std::vector<std::string> listed_models(const FakeScript& script);

// models, model, gemini_models, ollama_tags, ollama_version, root.
Rendered render_catalog(const Route& route, const FakeScript& script, std::uint64_t number);
// anthropic_count_tokens, gemini_count_tokens.
Rendered render_token_count(const ModelRequest& request, std::uint64_t number);

}  // namespace pawl::fake
