// Charters as text, for the tests of their reader.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "pawl/adapter/yaml/yaml.h"
#include "pawl/charter/charter_reader.h"

namespace pawl {

inline CharterReading read_charter_text(std::string_view yaml) {
  const DocumentResult document = parse_yaml(yaml);
  REQUIRE_MESSAGE(document.root, to_string(document.faults, "f"));
  return read_charter(*document.root, std::string(yaml), "/dir");
}

inline Charter good_charter(std::string_view yaml) {
  const CharterReading reading = read_charter_text(yaml);
  REQUIRE_MESSAGE(reading.charter, to_string(reading.faults, "f"));
  CHECK(reading.faults.empty());
  return *reading.charter;
}

// The faults of a charter that must have some, a line each.
inline std::string charter_faults(std::string_view yaml) {
  const CharterReading reading = read_charter_text(yaml);
  CHECK_FALSE(reading.charter);
  return to_string(reading.faults, "f");
}

// A complete charter with `more` of its top level keys, from line 4 on.
inline std::string charter_with(std::string_view more) {
  return "name: t\ninstructions: Do it.\nmodels: { main: scripted/s.yaml }\n" + std::string(more);
}

}  // namespace pawl
