// The declaration a run is made from. Read from a document (see charter_reader.h) or built in C++.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pawl/charter/charter_sandbox.h"
#include "pawl/charter/command_declaration.h"
#include "pawl/charter/machine/charter_machine.h"
#include "pawl/filter/processors/processors_reader.h"
#include "pawl/gate/charter_permissions.h"
#include "pawl/kernel/events.h"
#include "pawl/kernel/retry.h"
#include "pawl/limits.h"
#include "pawl/models/model_names.h"
#include "pawl/models/provider_declaration.h"
#include "pawl/port/budget.h"

namespace pawl {

// Bounds of money, in 10^-12 units of the currency; 0 is none.
struct Spending {
  std::uint64_t cost_pico = 0;      // of a run: it waits for more when it would cost more
  std::uint64_t ask_cost_pico = 0;  // having spent this much it waits for somebody's word
  std::string currency = "USD";
  std::vector<BudgetWindow> tenant = {};  // of all runs of the tenant together
  // Whether money may be bounded where a model's price is not known, and so is counted as nothing.
  enum class UnknownPrice : std::uint8_t { refuse, allow } unknown_price = UnknownPrice::refuse;

  friend bool operator==(const Spending&, const Spending&) = default;
};

struct Charter {
  std::string name;
  std::string description;
  std::string instructions;
  std::string node = "main";  // where a run starts; empty: a flow
  // A chain: targets, and names of `models` or of the configuration. Empty: the default model. Of
  // an agent that was put together it is the first target, e.g. "scripted/pay.script.yaml".
  std::string model;
  ModelNames models;
  std::vector<ProviderDeclaration> providers;
  SamplingOptions sampling;
  std::string output_schema;  // JSON; empty: any text
  std::string system_header;  // precedes every system prompt; may be empty
  CompactionPolicy compaction;
  Spending spending;
  Limits limits;
  Guards guards;
  RetryPolicy retry;
  std::vector<CommandDeclaration> commands;  // of all scopes
  std::vector<std::string> common_tools;     // of those that Pawl brings, by name
  CharterPermissions permissions;
  std::shared_ptr<const Processors> processors;  // null: none
  SandboxDeclaration sandbox;
  std::map<std::string, std::string> variables;  // defaults of {{name}} in the instructions
  CharterMachine machine;
  std::string text;       // the document it was read from; empty when built in C++
  std::string directory;  // relative paths start here
};

inline constexpr std::size_t kCharterNameBytesMax = 128;
inline constexpr std::size_t kInstructionsBytesMax = 1U << 20U;
inline constexpr std::size_t kSystemHeaderBytesMax = 64U << 10U;
inline constexpr std::size_t kToolsMax = 256;

}  // namespace pawl
