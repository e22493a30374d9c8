// One target for each reader of bytes from outside. A target gets any bytes and must come back;
// what it finds wrong it says with FUZZ_CHECK, which ends the process so that the input is kept.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#define FUZZ_CHECK(condition)                                                             \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "fuzz: not so: %s (%s:%d)\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

namespace pawl::fuzz {

using Target = void (*)(std::string_view bytes);

struct NamedTarget {
  std::string_view name;
  Target run;
};

const std::vector<NamedTarget>& targets();
// Null when there is none of that name.
Target find_target(std::string_view name);

// Bytes as a list of pieces: two bytes of length, low one first, then the piece. The last piece may
// be cut short.
std::vector<std::string_view> pieces_of(std::string_view bytes);

void fuzz_advance(std::string_view bytes);
void fuzz_answer(std::string_view bytes);
void fuzz_anthropic(std::string_view bytes);
void fuzz_arguments(std::string_view bytes);
void fuzz_charter(std::string_view bytes);
void fuzz_chat(std::string_view bytes);
void fuzz_configuration(std::string_view bytes);
void fuzz_escape(std::string_view bytes);
void fuzz_event(std::string_view bytes);
void fuzz_gemini(std::string_view bytes);
void fuzz_input(std::string_view bytes);
void fuzz_http_head(std::string_view bytes);
void fuzz_json(std::string_view bytes);
void fuzz_log(std::string_view bytes);
void fuzz_patch(std::string_view bytes);
void fuzz_record(std::string_view bytes);
void fuzz_responses(std::string_view bytes);
void fuzz_schema(std::string_view bytes);
void fuzz_script(std::string_view bytes);
void fuzz_cassette(std::string_view bytes);
void fuzz_provider_request(std::string_view bytes);
void fuzz_provider_script(std::string_view bytes);
void fuzz_snapshot(std::string_view bytes);
void fuzz_sse(std::string_view bytes);
void fuzz_yaml(std::string_view bytes);

}  // namespace pawl::fuzz
