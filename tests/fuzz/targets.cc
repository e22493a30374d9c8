#include "tests/fuzz/fuzz.h"

namespace pawl::fuzz {

const std::vector<NamedTarget>& targets() {
  static const std::vector<NamedTarget> all = {
      {"advance", fuzz_advance},
      {"answer", fuzz_answer},
      {"anthropic", fuzz_anthropic},
      {"arguments", fuzz_arguments},
      {"cassette", fuzz_cassette},
      {"charter", fuzz_charter},
      {"chat", fuzz_chat},
      {"configuration", fuzz_configuration},
      {"escape", fuzz_escape},
      {"event", fuzz_event},
      {"gemini", fuzz_gemini},
      {"input", fuzz_input},
      {"http_head", fuzz_http_head},
      {"json", fuzz_json},
      {"log", fuzz_log},
      {"patch", fuzz_patch},
      {"provider_request", fuzz_provider_request},
      {"provider_script", fuzz_provider_script},
      {"record", fuzz_record},
      {"responses", fuzz_responses},
      {"schema", fuzz_schema},
      {"script", fuzz_script},
      {"snapshot", fuzz_snapshot},
      {"sse", fuzz_sse},
      {"yaml", fuzz_yaml},
  };
  return all;
}

Target find_target(std::string_view name) {
  for (const NamedTarget& target : targets()) {
    if (target.name == name) return target.run;
  }
  return nullptr;
}

std::vector<std::string_view> pieces_of(std::string_view bytes) {
  constexpr std::size_t kPiecesMax = 64;
  std::vector<std::string_view> pieces;
  while (bytes.size() >= 2 && pieces.size() < kPiecesMax) {
    const auto low = static_cast<std::uint8_t>(bytes[0]);
    const auto high = static_cast<std::uint8_t>(bytes[1]);
    bytes.remove_prefix(2);
    const std::size_t length = std::size_t{high} << 8U | low;
    pieces.push_back(bytes.substr(0, length));
    bytes.remove_prefix(pieces.back().size());
  }
  return pieces;
}

}  // namespace pawl::fuzz
