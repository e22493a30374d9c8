// Where a secret is to be found, as it is written in configurations and charters:
//
//   env:NAME                  a variable of the environment
//   file:PATH                 a file of one line that only its owner may read
//   command:["argv", …]       what a program prints; no shell
//   {env: NAME}, {file: PATH}, {command: [argv, …]}
//
// A secret itself is refused: files are copied, shown and committed. Its text is in no message.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pawl/base/document.h"
#include "pawl/port/secrets.h"

namespace pawl {

inline constexpr std::size_t kSecretPathBytesMax = 4096;
inline constexpr std::size_t kSecretArgumentsMax = 64;

// nullopt: there were faults. `where` names the map that `key` stands in.
std::optional<SecretReference> read_secret_reference(const Node& node, const std::string& where,
                                                     std::string_view key,
                                                     std::vector<Fault>& faults);

// Letters, digits and '_', the first no digit.
bool is_variable(std::string_view text);

}  // namespace pawl
