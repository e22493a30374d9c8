// The section of a document that says what commands may do.
#include <algorithm>
#include <array>

#include "pawl/gate/shell/shell_commands.h"
#include "pawl/gate/shell/shell_programs.h"
#include "pawl/gate/shell/shell_reader.h"
#include "pawl/gate/shell/shell_rules.h"

namespace pawl {
namespace {

// Whether an entry of `allow` can ever allow something: a reader, or one whole command.
bool is_allowable(const std::string& entry) {
  if (entry == "*") return true;
  const auto readers = reader_names();
  if (std::find(readers.begin(), readers.end(), entry) != readers.end()) return true;
  const ShellReading reading = read_shell(entry);
  const bool single = reading.outcome == ShellOutcome::understood && reading.features.none() &&
                      reading.commands.size() == 1;
  const auto literal = [](const ShellWord& word) { return word.is_literal(); };
  return single &&
         std::all_of(reading.commands[0].words.begin(), reading.commands[0].words.end(), literal);
}

void take_patterns(MapReader& reader, std::string_view key, std::vector<std::string>& out) {
  const Node* const list = reader.take(key);
  if (list == nullptr || !reader.take_string_list(key, out)) return;
  if (out.size() > kShellPatternsMax) {
    reader.fault(list->mark(),
                 quoted(key) + " has at most " + std::to_string(kShellPatternsMax) + " entries");
  }
  for (const Node& item : list->items()) {
    const std::string entry(item.text());
    if (const std::string fault = pattern_fault(entry); !fault.empty()) {
      reader.fault(item.mark(), quoted(key) + ": " + fault, "write it as \"rm -rf *\"");
    } else if (key == "allow" && !is_allowable(entry)) {
      reader.fault(item.mark(), quoted(entry) + " is neither a reader nor one whole command",
                   "patterns are for ask and deny; write every word: make test");
    }
  }
}

}  // namespace

ShellPolicy read_shell_policy(const Node& node, std::vector<Fault>& faults,
                              const std::string& where) {
  ShellPolicy policy;
  MapReader reader(node, faults, where);
  take_patterns(reader, "allow", policy.allow);
  take_patterns(reader, "ask", policy.ask);
  take_patterns(reader, "deny", policy.deny);
  constexpr std::array<std::string_view, 2> kGrammars = {"single", "lists"};
  if (const auto grammar = reader.take_choice("grammar", kGrammars)) {
    policy.grammar = static_cast<ShellGrammar>(*grammar);
  }
  reader.finish();
  return policy;
}

}  // namespace pawl
