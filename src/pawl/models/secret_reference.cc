#include "pawl/models/secret_reference.h"

#include <algorithm>
#include <utility>

#include "pawl/json.h"

namespace pawl {

namespace {

constexpr std::string_view kReferenceForms = "write env:NAME, file:PATH or command:[\"argv\", …]";

std::optional<SecretReference> of_environment(std::string_view name) {
  if (!is_variable(name)) return std::nullopt;
  return SecretReference{SecretReference::Kind::environment, std::string(name), {}};
}

std::optional<SecretReference> of_file(std::string_view path) {
  const bool fits = !path.empty() && path.size() <= kSecretPathBytesMax;
  if (!fits || path.find('\0') != std::string_view::npos) return std::nullopt;
  return SecretReference{SecretReference::Kind::file, std::string(path), {}};
}

std::optional<SecretReference> of_command(std::vector<std::string> arguments) {
  const auto is_bad = [](const std::string& one) {
    return one.size() > kSecretPathBytesMax || one.find('\0') != std::string::npos;
  };
  const bool counts = !arguments.empty() && arguments.size() <= kSecretArgumentsMax;
  if (!counts || arguments.front().empty()) return std::nullopt;
  if (std::any_of(arguments.begin(), arguments.end(), is_bad)) return std::nullopt;
  return SecretReference{SecretReference::Kind::command, "", std::move(arguments)};
}

std::optional<SecretReference> of_command_text(std::string_view text) {
  const auto json = parse_json(text);
  if (!json || !json->is_array()) return std::nullopt;
  std::vector<std::string> arguments;
  for (const Json& item : json->array()) {
    if (!item.is_string()) return std::nullopt;
    arguments.push_back(item.string());
  }
  return of_command(std::move(arguments));
}

std::optional<SecretReference> of_text(std::string_view text) {
  const auto after = [text](std::string_view prefix) -> std::optional<std::string_view> {
    if (!text.starts_with(prefix)) return std::nullopt;
    return text.substr(prefix.size());
  };
  if (const auto name = after("env:")) return of_environment(*name);
  if (const auto path = after("file:")) return of_file(*path);
  if (const auto command = after("command:")) return of_command_text(*command);
  return std::nullopt;
}

std::optional<SecretReference> of_map(const Node& node) {
  if (node.members().size() != 1) return std::nullopt;
  const auto& [key, mark, value] = node.members().front();
  const auto text = value.as_string();
  if (key == "env" && text) return of_environment(*text);
  if (key == "file" && text) return of_file(*text);
  if (key != "command") return std::nullopt;
  std::vector<std::string> arguments;
  for (const Node& item : value.items()) {
    if (!item.as_string()) return std::nullopt;
    arguments.emplace_back(*item.as_string());
  }
  return of_command(std::move(arguments));
}

}  // namespace

bool is_variable(std::string_view text) {
  constexpr std::size_t kBytesMax = 256;
  const auto leads = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto accepted = [&leads](char c) { return leads(c) || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kBytesMax && leads(text.front()) &&
         std::all_of(text.begin(), text.end(), accepted);
}

std::optional<SecretReference> read_secret_reference(const Node& node, const std::string& where,
                                                     std::string_view key,
                                                     std::vector<Fault>& faults) {
  const auto text = node.as_string();
  auto reference = text ? of_text(*text) : of_map(node);
  if (reference) return reference;
  // What stands there may be the secret: it is not repeated.
  add_fault(faults, {node.mark(),
                     where + ": " + quoted(key) +
                         " does not say where the secret is; a secret itself is never written here",
                     std::string(kReferenceForms)});
  return std::nullopt;
}

}  // namespace pawl
