#include "pawl/adapter/provider/openai/openai_wire.h"

#include <doctest/doctest.h>

namespace pawl::provider {

TEST_CASE("addresses: a server gets the version, an API has it") {
  CHECK(openai_url("https://api.openai.com", "/responses") ==
        "https://api.openai.com/v1/responses");
  CHECK(openai_url("http://localhost:11434", "/models") == "http://localhost:11434/v1/models");
  CHECK(openai_url("https://openrouter.ai/api/v1", "/x") == "https://openrouter.ai/api/v1/x");
  CHECK(openai_url("https://api.z.ai/api/paas/v4", "/x") == "https://api.z.ai/api/paas/v4/x");
  CHECK(openai_url("https://g.test/v1beta/openai", "/x") == "https://g.test/v1beta/openai/x");
  CHECK(openai_url("https://v1.test", "/x") == "https://v1.test/v1/x");
}

TEST_CASE("effort in words that the model knows") {
  using enum ReasoningEffort;
  CHECK(effort_word(unset, "gpt-5") == "");
  CHECK(effort_word(minimal, "gpt-5-mini") == "minimal");
  CHECK(effort_word(minimal, "gpt-5.1") == "low");
  CHECK(effort_word(minimal, "o3") == "low");
  CHECK(effort_word(medium, "o3") == "medium");
  CHECK(effort_word(max, "gpt-5") == "high");
  CHECK(effort_word(max, "gpt-5.1") == "high");
  CHECK(effort_word(max, "gpt-5.1-codex-max") == "xhigh");
  CHECK(effort_word(max, "openai/gpt-5.2-codex") == "xhigh");
  CHECK(effort_word(max, "gpt-6") == "xhigh");
  CHECK(effort_word(max, "gpt-99999999999") == "high");
  CHECK(effort_word(max, "llama-4") == "high");
}

TEST_CASE("what is cut off, and what is merely wrong") {
  for (const char* cut : {"{", R"({"a)", R"({"a":"\)", R"({"a":[1)", R"(")"})
    CHECK(is_cut_off(cut));
  for (const char* not_cut : {"", "{}", "}", "nonsense", R"({"a":"\"}"})", "[1]]"}) {
    CHECK(!is_cut_off(not_cut));
  }
}

TEST_CASE("the key is a secret header, and the probe is free") {
  for (const auto& dialect : {make_responses_dialect(), make_chat_dialect()}) {
    const HttpHeader header = dialect->credentials("sk-1");
    CHECK(header.name == "authorization");
    CHECK(header.value == "Bearer sk-1");
    CHECK(header.secrecy == HttpHeader::Secrecy::secret);
    WireOptions options;
    options.base_url = "http://localhost:1";
    const WireRequest probe = dialect->probe(options);
    CHECK(probe.method == "GET");
    CHECK(probe.url == "http://localhost:1/v1/models");
    CHECK(probe.body.empty());
  }
}

}  // namespace pawl::provider
