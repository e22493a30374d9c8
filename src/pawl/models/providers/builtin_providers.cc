#include "pawl/models/providers/builtin_providers.h"

namespace pawl {

const std::vector<BuiltinProvider>& builtin_providers() {
  using enum ProviderDialect;
  static const std::vector<BuiltinProvider> all = {
      {"anthropic",
       anthropic,
       "https://api.anthropic.com",
       {"ANTHROPIC_BASE_URL"},
       {"ANTHROPIC_API_KEY"},
       {"claude-"}},
      {"openai",
       openai_responses,
       "https://api.openai.com/v1",
       {"OPENAI_BASE_URL"},
       {"OPENAI_API_KEY"},
       {"gpt-", "chatgpt-", "codex-", "o1", "o3", "o4", "ft:"}},
      {"gemini",
       gemini,
       "https://generativelanguage.googleapis.com",
       {"GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"},
       {"GEMINI_API_KEY", "GOOGLE_API_KEY"},
       {"gemini-", "gemma-"}},
      // Its models are those its owner pulled.
      {"ollama", openai_chat, "http://127.0.0.1:11434", {"OLLAMA_HOST"}, {}, {""}},
      {"openrouter",
       openai_chat,
       "https://openrouter.ai/api/v1",
       {"OPENROUTER_BASE_URL"},
       {"OPENROUTER_API_KEY"},
       {""}},
      {"deepseek",
       openai_chat,
       "https://api.deepseek.com/v1",
       {"DEEPSEEK_BASE_URL"},
       {"DEEPSEEK_API_KEY"},
       {"deepseek-"}},
      {"groq",
       openai_chat,
       "https://api.groq.com/openai/v1",
       {"GROQ_BASE_URL"},
       {"GROQ_API_KEY"},
       {""}},
      {"mistral",
       openai_chat,
       "https://api.mistral.ai/v1",
       {"MISTRAL_BASE_URL"},
       {"MISTRAL_API_KEY"},
       {"mistral-", "codestral-", "devstral-", "magistral-", "ministral-", "open-", "pixtral-"}},
      {"xai", openai_chat, "https://api.x.ai/v1", {"XAI_BASE_URL"}, {"XAI_API_KEY"}, {"grok-"}},
  };
  return all;
}

}  // namespace pawl
