// What the secret filter costs for a megabyte of text, by the number of known secrets.
//   build/release/bin/pawl_bench_secret_filter [MEGABYTES]
#include "pawl/filter/secrets/secret_filter.h"

#include <fmt/format.h>

#include <cstdlib>

#include "bench/meter.h"
#include "pawl/base/base64.h"
#include "pawl/base/rng.h"
#include "pawl/json.h"

namespace pawl::bench {
namespace {

constexpr std::size_t kMegabyte = 1U << 20U;

std::string some_code(std::size_t bytes) {
  Rng rng(1);
  std::string text;
  while (text.size() < bytes) {
    text +=
        "  if (records[" + std::to_string(rng.below(100)) + "].size() % 2 == 0) return \"\\n\";\n";
  }
  return text;
}

std::string some_prose(std::size_t bytes) {
  Rng rng(2);
  std::string text;
  while (text.size() < bytes) {
    text += "The run was taken up again after " + std::to_string(rng.below(1000)) + " steps. ";
    if (rng.one_in(3)) text += "\n";
  }
  return text;
}

std::string some_image(std::size_t bytes) {
  Rng rng(3);
  std::string raw;
  while (raw.size() < bytes / 4 * 3) raw.push_back(static_cast<char>(rng.below(256)));
  return to_base64(raw);
}

double ms_per_megabyte(const ByteFilter& filter, const std::string& text, std::size_t rounds) {
  const std::string before = filter.ingress(text);  // makes what is made once
  const double begin = now_s();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < rounds; ++i) bytes += filter.ingress(text).size();
  if (bytes == 0 || before.empty()) std::abort();
  return (now_s() - begin) * 1e3 / static_cast<double>(rounds);
}

int measure(std::size_t rounds) {
  std::string json;
  append_json_string(json, some_code(kMegabyte * 9 / 10));
  const std::string texts[] = {some_prose(kMegabyte), some_code(kMegabyte), json,
                               some_image(kMegabyte)};
  fmt::print("{:>8} {:>10} {:>10} {:>10} {:>10} {:>12} {:>10}\n", "secrets", "prose", "code",
             "JSON", "base64", "making ms", "states");
  for (const std::size_t count : {0U, 1U, 10U, 100U, 1000U}) {
    const auto known = std::make_shared<KnownSecrets>();
    Rng rng(4);
    for (std::size_t i = 0; i < count; ++i) {
      std::string value = "sk-ant-api03-";
      for (int c = 0; c < 32; ++c) value += static_cast<char>('A' + rng.below(26));
      known->add("KEY_" + std::to_string(i), value);
    }
    const double begin = now_s();
    const std::size_t states = known->snapshot()->automaton.states();
    const double making = (now_s() - begin) * 1e3;
    const SecretFilter filter(known);
    fmt::print("{:>8}", count);
    for (const std::string& text : texts) {
      fmt::print(" {:>10.3f}", ms_per_megabyte(filter, text, rounds));
    }
    fmt::print(" {:>12.2f} {:>10}\n", making, states);
  }
  fmt::print("ms for a MiB, in ingress()\n");
  return 0;
}

}  // namespace
}  // namespace pawl::bench

int main(int argc, char** argv) {
  return pawl::bench::measure(argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50);
}
