// Where a charter's tools run, and what they may touch there: the section `sandbox`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/backend.h"
#include "pawl/base/document.h"

namespace pawl {

struct SandboxDeclaration {
  std::string backend = "namespace";  // the name of a backend
  std::string directory = ".";        // where commands start; relative to the charter
  std::vector<std::string> write = {"."};
  bool write_named = false;  // by the charter; otherwise its own directory
  std::vector<std::string> read;
  std::vector<std::string> deny;  // hidden, unless a longer path of the others says so
  NetworkPolicy network;
  ExecutionContext::Protection protection = ExecutionContext::Protection::held;
  std::map<std::string, std::string> environment;
  BackendLimits limits;
  enum class Declared : std::uint8_t { no, yes } declared = Declared::no;
};

inline constexpr std::size_t kSandboxPathsMax = 64;
inline constexpr std::size_t kSandboxHostsMax = 256;
inline constexpr std::size_t kSandboxVariablesMax = 128;

//   sandbox: { level: namespace, write: [.], read: [/srv/data], deny: [private], network: none }
//   protected: held | if_possible
//   network: none | full | { hosts: [example.org, .example.net] }
void read_sandbox(const Node& node, std::vector<Fault>& faults, SandboxDeclaration& out);

}  // namespace pawl
