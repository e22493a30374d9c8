// The words of a command line, sorted by the command table.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

class Arguments {
 public:
  std::string command;  // empty when none was given
  // By the name of the option (without dashes) or of the argument ("RUN").
  std::map<std::string, std::vector<std::string>, std::less<>> values;

  bool has(std::string_view name) const { return values.find(name) != values.end(); }
  std::optional<std::string> one(std::string_view name) const;
  std::string one_or(std::string_view name, std::string fallback) const;
  std::vector<std::string> many(std::string_view name) const;
};

// invalid_argument: what is wrong, with the remedy. Arguments that are required are checked too,
// unless help is asked for.
Result<Arguments> parse_arguments(int argc, const char* const* argv);

// Values of options.
Result<std::uint64_t> parse_count(std::string_view option, const std::string& text);
Result<std::uint64_t> parse_duration_option(std::string_view option, const std::string& text);
Result<std::uint64_t> parse_bytes_option(std::string_view option, const std::string& text);
struct KeyValue {
  std::string key;
  std::string value;
};
Result<KeyValue> parse_key_value(const std::string& text);

}  // namespace pawl
