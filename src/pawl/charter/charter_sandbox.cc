#include "pawl/charter/charter_sandbox.h"

#include <algorithm>
#include <array>

#include "pawl/content.h"

namespace pawl {
namespace {

constexpr std::int64_t kMemoryMaxBytes = std::int64_t{1} << 40U;
constexpr std::int64_t kDiskMaxBytes = std::int64_t{1} << 44U;
constexpr std::int64_t kMemoryMinBytes = std::int64_t{1} << 20U;
constexpr std::int64_t kProcessesMax = 65'536;
constexpr std::array<std::string_view, 2> kProtections = {"held", "if_possible"};

bool is_variable_name(std::string_view name) {
  const auto accepted = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(), accepted);
}

void read_paths(MapReader& reader, const Node& node, std::string_view key,
                std::vector<std::string>& out) {
  if (!reader.take_string_list(key, out)) return;
  if (out.size() > kSandboxPathsMax) {
    reader.fault(node.find(key)->mark(),
                 quoted(key) + " may list " + std::to_string(kSandboxPathsMax) + " paths");
  }
  for (const std::string& path : out) {
    if (!path.empty() && path.find('\0') == std::string::npos) continue;
    reader.fault(node.find(key)->mark(), quoted(key) + " has an empty path");
  }
}

void read_network(const Node& node, std::vector<Fault>& faults, NetworkPolicy& out) {
  if (node.kind() == Node::Kind::map) {
    MapReader reader(node, faults, "sandbox.network");
    out.access = NetworkAccess::limited;
    reader.require("hosts");
    reader.take_string_list("hosts", out.hosts);
    if (out.hosts.size() > kSandboxHostsMax) {
      reader.fault(node.mark(),
                   "\"hosts\" may list " + std::to_string(kSandboxHostsMax) + " hosts");
    }
    return reader.finish();
  }
  const auto word = node.as_string();
  if (word == "none") return;
  if (word == "full") {
    out.access = NetworkAccess::full;
    return;
  }
  faults.push_back({node.mark(), "sandbox: \"network\" must be none, full or { hosts: [...] }",
                    "write network: { hosts: [example.org] }"});
}

void read_environment(const Node& node, std::vector<Fault>& faults,
                      std::map<std::string, std::string>& out) {
  MapReader reader(node, faults, "sandbox.env");
  if (node.members().size() > kSandboxVariablesMax) {
    reader.fault(node.mark(),
                 "there may be " + std::to_string(kSandboxVariablesMax) + " variables");
  }
  for (const Member& member : node.members()) {
    std::string value;
    if (!is_variable_name(member.key)) {
      reader.fault(member.key_mark, quoted(member.key) + " is not a name of a variable");
    } else if (reader.take_string(member.key, value)) {
      out[member.key] = std::move(value);
    }
  }
}

void read_bounds(MapReader& reader, BackendLimits& limits) {
  reader.take_duration_ms("time", {1, kToolTimeoutMaxMs}, limits.time_ms);
  reader.take_duration_ms("cpu", {1, kToolTimeoutMaxMs}, limits.cpu_ms);
  reader.take_bytes("memory", {kMemoryMinBytes, kMemoryMaxBytes}, limits.memory_bytes);
  reader.take_bytes("disk", {1, kDiskMaxBytes}, limits.disk_bytes);
  reader.take_bytes("output", {1, std::int64_t{kToolOutputMaxBytes}}, limits.output_bytes);
  reader.take_bytes("kept", {1, kDiskMaxBytes}, limits.kept_bytes);
  reader.take_int("processes", {1, kProcessesMax}, limits.processes);
}

}  // namespace

void read_sandbox(const Node& node, std::vector<Fault>& faults, SandboxDeclaration& out) {
  MapReader reader(node, faults, "sandbox");
  if (node.kind() != Node::Kind::map) return;
  out.declared = SandboxDeclaration::Declared::yes;
  reader.take_string("level", out.backend);
  reader.take_string("directory", out.directory);
  read_paths(reader, node, "write", out.write);
  out.write_named = node.find("write") != nullptr;
  read_paths(reader, node, "read", out.read);
  read_paths(reader, node, "deny", out.deny);
  if (const auto choice = reader.take_choice("protected", kProtections)) {
    out.protection = static_cast<ExecutionContext::Protection>(*choice);
  }
  if (const Node* network = reader.take("network")) read_network(*network, faults, out.network);
  if (const Node* env = reader.take_map("env")) read_environment(*env, faults, out.environment);
  read_bounds(reader, out.limits);
  reader.finish();
}

}  // namespace pawl
