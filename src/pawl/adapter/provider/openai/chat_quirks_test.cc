#include "pawl/adapter/provider/openai/chat_quirks.h"

#include <doctest/doctest.h>

#include "pawl/base/shared_data_test.h"

namespace pawl::provider {
namespace {

Result<ChatQuirks> quirks(const std::string& name, const std::string& base_url,
                          std::vector<std::string> listed = {}) {
  WireOptions options;
  options.name = name;
  options.base_url = base_url;
  options.quirks = std::move(listed);
  return chat_quirks_of(options);
}

}  // namespace

TEST_CASE("quirks: listed, by the address, by the name") {
  CHECK(quirks("mine", "https://api.openai.com")->has(Quirk::max_completion_tokens));
  CHECK(quirks("mine", "https://x.openai.azure.com/openai/v1")->has(Quirk::developer_role));
  CHECK(quirks("mine", "http://box:11434")->has(Quirk::replay_reasoning));
  CHECK(quirks("llamacpp", "http://box:8080")->has(Quirk::replay_reasoning_content));
  CHECK(*quirks("openai", "https://api.mistral.ai") == *quirks("mistral", "http://x"));
  CHECK(*quirks("mine", "http://evil.test/api.openai.com") == ChatQuirks());
  const auto own = quirks("mine", "https://api.openai.com", {"standard", "empty_content"});
  REQUIRE(own);
  CHECK(own->has(Quirk::empty_content));
  CHECK(!own->has(Quirk::max_completion_tokens));
  CHECK(quirks("mine", "https://api.openai.com", {"empty_content"})->has(Quirk::developer_role));
}

TEST_CASE("quirks: a name that nobody knows is refused, with those that are") {
  const auto wrong = quirks("mine", "http://x", {"maxtokens"});
  REQUIRE(!wrong);
  CHECK(wrong.error().message.find("'maxtokens' is no quirk; there are: openai,") == 0);
  CHECK(wrong.error().message.find("short_call_ids") != std::string::npos);
}

TEST_CASE("quirks: every name is in docs/providers.md") {
  const char* const source = std::getenv("PAWL_SOURCE_DIR");
  const std::string page =
      shared_file(std::filesystem::path(source != nullptr ? source : ".") / "docs/providers.md");
  for (std::size_t i = 0; i < kQuirks; ++i) {
    const std::string name(provider::name(static_cast<Quirk>(i)));
    CAPTURE(name);
    CHECK(page.find("`" + name + "`") != std::string::npos);
  }
  for (const std::string_view server : known_chat_servers()) {
    CAPTURE(server);
    CHECK(page.find("`" + std::string(server) + "`") != std::string::npos);
  }
}

}  // namespace pawl::provider
