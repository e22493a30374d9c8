#include "pawl/surface/cli/command_table.h"

#include <algorithm>

namespace pawl {
namespace {

const ArgumentSpec kRun{"RUN", "The id of a run, or any unique prefix of it."};
const ArgumentSpec kCharter{"CHARTER", "A charter file."};
const OptionSpec kIdentity{
    "identity", '\0', Takes::value, "FILE",
    "The file with your key (pawl identity). Default: pawl/identity.pem of the configuration."};

CommandEntry run_command() {
  return {
      "run",
      "Start a run of a charter and drive it to its end",
      "INPUT is the text the agent gets; - reads it from standard input, @FILE from a file. The "
      "limits override those of the charter. Ctrl-C parks the run, a second one cancels it.",
      {kCharter, {"INPUT", "Text, - or @FILE.", Need::optional}},
      {{"id", '\0', Takes::value, "ID",
        "Give the run this id, and never to another one: keys of calls are made from it."},
       {"detach", 'd', Takes::nothing, "", "Drive it in the background and print its id."},
       {"var", '\0', Takes::values, "K=V", "Set a {{variable}} of the instructions. Repeatable."},
       {"tenant", '\0', Takes::value, "NAME", "For whom: whose budget pays. Default: default."},
       {"on-behalf-of", '\0', Takes::value, "NAME",
        "On whose behalf, for tools; kept on resume. Default: the user."},
       {"session", '\0', Takes::value, "ID", "The session it belongs to; likewise."},
       {"trace-parent", '\0', Takes::value, "ID",
        "The trace it belongs to, as a W3C traceparent; likewise."},
       {"steps", '\0', Takes::value, "N", "Limit: steps."},
       {"model-calls", '\0', Takes::value, "N", "Limit: model calls, attempts included."},
       {"tool-calls", '\0', Takes::value, "N", "Limit: tool calls."},
       {"time", '\0', Takes::value, "D", "Limit: time at work, such as 90s, 10m, 1h."},
       {"tokens", '\0', Takes::value, "N", "Limit: tokens."},
       {"bytes-in", '\0', Takes::value, "B", "Limit: bytes of input, such as 64KiB, 10MB."},
       {"bytes-out", '\0', Takes::value, "B", "Limit: bytes the model writes."},
       {"branches", '\0', Takes::value, "N", "Limit: instances spawned."},
       {"cost", '\0', Takes::value, "AMOUNT", "Limit: money, such as 2.00 or '2.00 USD'."},
       {"attach", '\0', Takes::values, "FILE", "Give the model this image or PDF. Repeatable."},
       {"file", '\0', Takes::values, "FILE",
        "Keep a copy that the run's tools can read; the model is told its name. Repeatable."},
       kIdentity},
  };
}

CommandEntry chat_command() {
  return {
      "chat",
      "Talk with a model, without tools and without a run",
      "With TEXT one turn, with - its text from standard input, without it a conversation, a line "
      "a turn. Of a chain the next model is asked when one fails before it has said anything. "
      "Nothing is journaled. Ctrl-C ends it.",
      {{"TEXT", "What to say, or -.", Need::optional}},
      {{"model", 'm', Takes::value, "REF", "A model, alias, tier or chain."},
       {"system", '\0', Takes::value, "TEXT", "The system prompt."},
       {"max-tokens", '\0', Takes::value, "N", "The most an answer may have."},
       {"temperature", '\0', Takes::value, "T", "From 0 to 2."},
       {"effort", '\0', Takes::value, "E", "minimal, low, medium, high or max.",
        "minimal low medium high max"},
       {"no-stream", '\0', Takes::nothing, "", "Ask for the answer in one piece."}},
  };
}

std::vector<CommandEntry> running_commands() {
  return {
      run_command(),
      chat_command(),
      {"init",
       "Write a starter charter and its script",
       "Into DIR, which is made, or the current directory. Files that exist are left alone, "
       "and refused.",
       {{"DIR", "Where to write.", Need::optional}},
       {}},
      {"validate",
       "List every fault of a charter",
       "One line a fault: file:line:column: message (remedy). What pawl run would refuse a charter "
       "for is a fault here, in the same words. A tool's command that is not there is a note. The "
       "data directory and whether keys are accepted are not looked at. Nothing is run.",
       {kCharter},
       {{"resolved", '\0', Takes::nothing, "",
         "Print the charter with what it includes; each value with its file and line."}}},
      {"resume",
       "Take a run up and drive it to its end or next wait",
       "A paused run goes on. A run that waits for somebody says for what.",
       {{kRun.name, kRun.help, Need::optional}},
       {{"due", '\0', Takes::nothing, "", "All runs that waited for a time which has come."},
        {"instance", '\0', Takes::value, "I", "The suspended instance to resume, such as i2."},
        {"suspend-id", '\0', Takes::value, "S", "The suspension it is resumed from."}}},
  };
}

std::vector<CommandEntry> looking_commands() {
  return {
      {"ls",
       "List runs, newest first",
       "",
       {},
       {{"status", '\0', Takes::value, "S",
         "Only runs that are queued, running, waiting, done, stopped, failed, cancelled, "
         "quarantined, or interrupted (running, but nobody drives it).",
         "queued running waiting done stopped failed cancelled quarantined interrupted"},
        {"limit", '\0', Takes::value, "N", "Show the newest N. By default 1000."},
        {"all", '\0', Takes::nothing, "", "Show all, however many."}}},
      {"show", "Show a run: where it stands, what it used, what it said", "", {kRun}, {}},
      {"logs",
       "Print the events of a run",
       "",
       {kRun},
       {{"follow", 'f', Takes::nothing, "", "Go on with those to come, until the run is over."},
        {"from", '\0', Takes::value, "SEQ", "Begin at this event."}}},
      {"attach",
       "Watch a run that is driven elsewhere",
       "Shows it from its first event, and follows it until it ends or waits. Ctrl-C stops the "
       "watching, not the run.",
       {kRun},
       {}},
      {"explain", "Say why a run is where it is", "", {kRun}, {}},
      {"verify",
       "Check everything stored of a run against its hashes",
       "A quarantine of a run that is sound is lifted.",
       {{"RUN", "The run to check.", Need::optional}},
       {{"all", '\0', Takes::nothing, "", "Check every run."}}},
  };
}

// What is done with the recorded history of runs.
std::vector<CommandEntry> history_commands() {
  return {
      {"replay",
       "Make every decision of a run again, offline, and compare",
       "No model and no tool is called, nothing is written. Ends with the same chain hash, or "
       "names "
       "the first record that this version would have written otherwise. The exit code is 1 when "
       "something differs or is damaged.",
       {kRun},
       {}},
      {"diff",
       "Say where two runs differ, by step and JSON path",
       "What must differ is left out: ids, times, epochs, who drove and paused them, the order in "
       "which calls of one step ended. The exit code is 1 when they differ, also when one is the "
       "beginning of the other.",
       {{"A", "A run, or any unique prefix of its id."}, {"B", "Another one."}},
       {{"all", '\0', Takes::nothing, "", "Compare every record in full."}}},
      {"fork",
       "Start a run from a recorded prefix of another",
       "The prefix is taken over as it was recorded: no model and no tool is called for it. After "
       "it the fork goes on by itself, with keys of its own. What the prefix used counts against "
       "the fork's limits.",
       {kRun},
       {{"at", '\0', Takes::value, "STEP", "The last step of the prefix; 0: the input alone."},
        {"edit", '\0', Takes::values, "TARGET=TEXT",
         "Change the prefix: input, history1, message1, step2.text or c3 (a call's result). @FILE "
         "reads the text from a file; a FILE alone is a JSON object of edits. Repeatable."},
        {"model", '\0', Takes::value, "REF", "Go on with this model."},
        {"id", '\0', Takes::value, "ID", "Give the fork this id instead of a new one."},
        {"detach", 'd', Takes::nothing, "", "Drive it in the background and print its id."},
        kIdentity}},
      {"export",
       "Write a run as one self-contained file",
       "To standard output, or to a new file. What looks like a secret is replaced; a run in which "
       "something was replaced can be looked at elsewhere, but not taken up.",
       {kRun},
       {{"output", 'o', Takes::value, "FILE", "Write to this file, which must not exist."},
        {"no-redact", '\0', Takes::nothing, "", "Leave secrets in it."}}},
      {"import",
       "Take in a run that was exported",
       "The file is checked whole before anything is written. Nothing is run; pawl resume goes on "
       "with a run that was not over.",
       {{"FILE", "A file that pawl export has written."}},
       {{"id", '\0', Takes::value, "ID", "Give the run this id instead of its own."}}},
  };
}

// What people are asked, and what they say.
std::vector<CommandEntry> deciding_commands() {
  return {
      {"approvals",
       "List what runs want of you",
       "Calls that wait for an approval or an answer, made from the exact bytes of their "
       "arguments: "
       "every control, invisible and direction character is shown, and what the model says about "
       "them is labelled as its word.",
       {{"RUN", "Only this run.", Need::optional}},
       {{"full", '\0', Takes::nothing, "", "Show all of the arguments, however long."},
        {"remembered", '\0', Takes::nothing, "", "List what was approved for always instead."},
        {"forget", '\0', Takes::value, "ID", "Take an approval for always back."}}},
      {"approve",
       "Approve a call that waits",
       "The approval is for exactly the bytes, tool, directory, environment and policy of now: if "
       "any of them changes before the call runs, it is asked about again. It is used up by the "
       "call.",
       {kRun, {"CALL", "The call, such as c3. Not needed when only one waits.", Need::optional}},
       {{"plan", '\0', Takes::nothing, "", "Approve all calls that wait, in order."},
        {"always", '\0', Takes::nothing, "",
         "Do not ask again for exactly this call, as long as its directory, environment, files and "
         "policy are the same."},
        {"edit", '\0', Takes::value, "JSON",
         "Run it with these arguments instead; @FILE reads them from a file."},
        {"digest", '\0', Takes::value, "HEX",
         "The digest of the arguments you have seen. Needed when they are too long to be shown."},
        kIdentity,
        {"signature", '\0', Takes::value, "BASE64",
         "A signature of the text that pawl approvals --json shows as to_sign, by anyone's tool."},
        {"by", '\0', Takes::value, "NAME", "Whose signature it is."},
        {"full", '\0', Takes::nothing, "", "Show all of the arguments and approve nothing."}}},
      {"deny",
       "Deny a call that waits",
       "The call is not run, and the model reads why.",
       {kRun, {"CALL", "The call, such as c3. Not needed when only one waits.", Need::optional}},
       {{"reason", '\0', Takes::value, "TEXT", "Why; the model reads it."}}},
      {"identity",
       "Make, show or use the key that your approvals are signed with",
       "new makes an Ed25519 key, show prints its public part for \"approvers\" of the operator's "
       "policy, sign prints a signature of a text.",
       {{"ACTION", "new, show or sign. Default: show.", Need::optional},
        {"FILE", "sign: the text; - reads it from standard input, the default.", Need::optional}},
       {kIdentity,
        {"passphrase", '\0', Takes::nothing, "",
         "new: protect the key with a passphrase, which is asked for at the terminal."}}},
      {"answer",
       "Answer a question of a run",
       "",
       {kRun, {"TEXT", "The answer; - reads it from standard input."}},
       {{"call", '\0', Takes::value, "CALL", "Which question, when several wait."}}},
  };
}

CommandEntry budget_command() {
  return {
      "budget",
      "Show what a run or a tenant has spent, or let it spend more",
      "A run that cannot afford its next model call waits. The amount is added to its budget; of a "
      "tenant, for as long as each window is.",
      {{"RUN", "The id of a run, or any unique prefix of it.", Need::optional}},
      {{"tenant", '\0', Takes::value, "NAME", "All runs of this tenant, instead of one run."},
       {"raise", '\0', Takes::value, "AMOUNT", "By this much, such as 1.00 or '1.00 USD'."},
       {"raise-tokens", '\0', Takes::value, "N", "By so many tokens."},
       {"raise-time", '\0', Takes::value, "DURATION", "By so much time, such as 10m."}}};
}

CommandEntry push_command() {
  return {
      "push",
      "Take the turn of a run that was handed out",
      "A run whose model is 'external' waits for its turns. What is pushed is the model's reply: "
      "calls pass the same checks as a model's, and a turn without calls ends the run.",
      {kRun},
      {{"message", '\0', Takes::value, "TEXT", "What it says; - reads standard input."},
       {"call", '\0', Takes::values, "TOOL=JSON", "A tool to call, with its input. Repeatable."}}};
}

std::vector<CommandEntry> steering_commands() {
  return {
      {"pause", "Park a run: what is under way ends, nothing new starts", "", {kRun}, {}},
      {"cancel",
       "End a run",
       "What is under way is stopped. A run that nobody drives is ended here.",
       {kRun, {"REASON", "Why, for the journal.", Need::optional}},
       {}},
      {"message",
       "Say something to a run",
       "It is durable when the command returns, and read at the run's next step.",
       {kRun, {"TEXT", "The message, or - for standard input."}},
       {}},
      budget_command(),
      push_command(),
      {"resolve",
       "Say what became of a call that is in doubt",
       "A call is in doubt when its process died while it ran and its tool cannot be asked.",
       {kRun, {"CALL", "The call, such as c2."}},
       {{"happened", '\0', Takes::value_maybe, "RESULT",
         "It took effect; RESULT is what the model is told it returned."},
        {"did-not-happen", '\0', Takes::nothing, "", "It did not; it is made again."}}},
      {"sim",
       "Play simulated histories, and look for a broken promise",
       "The same kernel, driver and engine under a virtual clock, with crashes, power losses, full "
       "disks, failing tools and people who interfere. The same options are the same history, on "
       "every machine. A failure is shrunk and shown with the command that repeats it.",
       {},
       {{"seed", '\0', Takes::value, "S", "The first seed. By default 1."},
        {"seeds", '\0', Takes::value, "N", "How many seeds. By default 1."},
        {"minutes", '\0', Takes::value, "T", "Go on with further seeds for so long."},
        {"runs", '\0', Takes::value, "N", "Runs in each history. By default 8."},
        {"steps", '\0', Takes::value, "M", "Steps of each run, at most. By default 20."},
        {"processes", '\0', Takes::value, "P", "Processes that drive them. By default 3."},
        {"faults", '\0', Takes::value, "LIST",
         "Only these faults, by number, as a failure lists them; or none."}}},
      {"fake-provider",
       "Serve a model provider on loopback that costs nothing",
       "It speaks the wire formats of Anthropic, OpenAI and Gemini, echoes or follows a script, "
       "and "
       "fails on request: docs/fake-provider.md. Prints its address and the variables that point "
       "programs at it. Ctrl-C ends it.",
       {},
       {{"port", '\0', Takes::value, "N", "Listen there. By default a free port."},
        {"script", '\0', Takes::value, "FILE", "What to say, instead of the echo."},
        {"fault", '\0', Takes::values, "FAULT",
         "What is to go wrong: a kind, a status, or keys such as 'status: 429, times: 2'. "
         "Repeatable."},
        {"replay", '\0', Takes::value, "FILE", "Answer from recordings."},
        {"record", '\0', Takes::value, "FILE", "Pass requests on, and record them in a new file."},
        {"upstream", '\0', Takes::value, "URL", "Where to pass them on to."},
        {"print-env", '\0', Takes::nothing, "", "Print the variables only, for a shell."}}},
      {"completion",
       "Print a completion script",
       "Bash: source <(pawl completion bash).",
       {{"SHELL", "bash, zsh or fish."}},
       {}},
      {"man", "Print the manual page", "As in: pawl man | man -l -", {}, {}},
  };
}

std::vector<CommandEntry> keeping_commands() {
  return {
      {"artifacts",
       "List long outputs of a run's tools, or read one",
       "Results of more than 4 KiB are kept beside the journal, by their SHA-256. A DIGEST checks "
       "one and writes it to standard output, or to a new file. What pawl gc has let go says when.",
       {kRun, {"DIGEST", "The digest of an output, or any unique prefix of it.", Need::optional}},
       {{"output", 'o', Takes::value, "FILE", "Write to this file, which must not exist."}}},
      {"rm",
       "Remove runs with all that is stored of them",
       "A run that somebody drives is refused; one that could be carried on needs --force. Its "
       "space is given back to the file system.",
       {{"RUN", "The id of a run, or any unique prefix of it.", Need::one_or_more}},
       {{"force", '\0', Takes::nothing, "", "Also runs that wait or were interrupted."}}},
      {"gc",
       "Remove old runs by rule",
       "A run that is over goes when any of the rules says so; with --artifacts its tools' outputs "
       "go and the run stays. Says what it removed and how many bytes were returned.",
       {},
       {{"older-than", '\0', Takes::value, "AGE",
         "Runs that have not changed for that long, such as 12h or 30d."},
        {"keep", '\0', Takes::value, "N", "All but the newest N."},
        {"max-size", '\0', Takes::value, "SIZE",
         "The oldest, until all runs together have at most that much, such as 500MB."},
        {"artifacts", '\0', Takes::value, "AGE",
         "Of runs that are over and stay, long outputs of tools that are older than that."},
        {"dry-run", '\0', Takes::nothing, "", "Only say what would be removed."},
        {"force", '\0', Takes::nothing, "",
         "Also runs that wait, were interrupted or are quarantined; never those that somebody "
         "drives. Of outputs, only those that the run does not need to go on."}}},
  };
}

std::vector<CommandEntry> caring_commands() {
  return {
      {"backup",
       "Copy the data directory while runs go on",
       "DIR must not be there yet; it appears when the copy is whole and durable, and is a data "
       "directory itself. It has the runs, budgets, remembered approvals, input files, kept "
       "outputs "
       "and commits of sessions that are not published yet. Left out, and said so: logs of "
       "detached "
       "runs, and what was taken out of work trees.",
       {{"DIR", "The new directory."}},
       {}},
      {"restore",
       "Put a backup in the place of the data directory",
       "Copies BACKUP, checks the copy, and then exchanges the two directories in one step. What "
       "was there is kept beside it, as a whole. Runs that are not over are paused: what they did "
       "after the backup was made, they do not know. Refused while a process has the directory "
       "open.",
       {{"BACKUP", "A directory that pawl backup made."},
        {"DIR", "The directory to replace; the data directory if it is not named.",
         Need::optional}},
       {}},
      {"models",
       "List the models that charters can name",
       "One row a model: its size, what a million tokens cost, what it can do, which aliases and "
       "tiers lead to it, and what is missing before it can be asked. Asks no provider.",
       {},
       {{"configured", '\0', Takes::nothing, "", "Only those that can be asked."}}},
      {"trust",
       "Trust a charter, policy or script that an agent may have written",
       "A file that changed while a session could write there is not read or run by pawl run, "
       "resume and validate until a person has looked at it. Shows what changed in FILE and "
       "records that it is trusted as it is now.",
       {{"FILE", "A charter, a policy, a script or a program.", Need::optional}},
       {{"list", '\0', Takes::nothing, "", "List the files that are known, and change nothing."}}},
      {"doctor",
       "Look at the data directory, the machine and the providers",
       "Says what is well, what to watch and what is wrong, each with what helps. Changes nothing "
       "without --accept. Exit code 1 when there is a problem.",
       {},
       {{"live", '\0', Takes::nothing, "",
         "Make one request to each provider that is configured, and say whether it takes the "
         "key."},
        {"accept", '\0', Takes::nothing, "",
         "Go on with a store that has lost its newest records, and pause the runs that are not "
         "over. Says what is missing."}}},
  };
}

}  // namespace

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> all = [] {
    std::vector<CommandEntry> list = running_commands();
    for (const auto& group : {looking_commands(), history_commands(), deciding_commands(),
                              steering_commands(), keeping_commands(), caring_commands()}) {
      list.insert(list.end(), group.begin(), group.end());
    }
    return list;
  }();
  return all;
}

const std::vector<OptionSpec>& global_options() {
  static const std::vector<OptionSpec> all = {
      {"data", '\0', Takes::value, "DIR", "The data directory."},
      {"config", '\0', Takes::value, "FILE", "The configuration file."},
      {"policy", '\0', Takes::value, "FILE", "What charters may do at most: docs/permissions.md."},
      {"json", '\0', Takes::nothing, "", "Print JSON, one object a line, and nothing else."},
      {"log-level", '\0', Takes::value, "LEVEL", "error, warn, info or debug.",
       "error warn info debug"},
      {"debug", '\0', Takes::nothing, "",
       "Log at debug: requests to models and their responses, without secrets."},
      {"log-file", '\0', Takes::value, "FILE", "Log there instead of to standard error."},
      {"no-color", '\0', Takes::nothing, "", "No colours, as with NO_COLOR set."},
      {"version", '\0', Takes::nothing, "", "Print the version numbers."},
      {"help", 'h', Takes::nothing, "", "Print help on pawl, or on a command."},
  };
  return all;
}

const std::vector<ExitCodeSpec>& exit_codes() {
  static const std::vector<ExitCodeSpec> all = {
      {0, "The run is done, or the command did what it says."},
      {1, "Any other error: no such run, driven elsewhere, the store."},
      {2, "Bad usage, or a charter with faults."},
      {3, "The run failed."},
      {4, "The run waits for someone."},
      {5, "The run was stopped by a limit or a guard."},
      {6, "The run is quarantined: what is stored of it is damaged."},
      {130, "The run was cancelled."},
  };
  return all;
}

const std::vector<PlaceSpec>& places() {
  static const std::vector<PlaceSpec> all = {
      {"--data, PAWL_DATA, data:",
       "The data directory, in this order of precedence; by default "
       "$XDG_DATA_HOME/pawl, or ~/.local/share/pawl. Mode 0700."},
      {"--config, PAWL_CONFIG",
       "The configuration file; by default $XDG_CONFIG_HOME/pawl/"
       "config.yaml, or ~/.config/pawl/config.yaml. Keys: data, "
       "log_level, log_file, color (auto, always, never), and those "
       "of models: providers, models, aliases, tiers, default_model, "
       "default_provider, system_header, catalogue, budget; and policy: what "
       "charters may do at most, as the file of --policy."},
      {"--log-level, PAWL_LOG_LEVEL, log_level:", "How much is logged; by default warn."},
      {"--log-file, PAWL_LOG_FILE, log_file:", "Where to; by default standard error."},
      {"--no-color, NO_COLOR, color:", "Whether a terminal gets colours."},
      {"ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY, "
       "GROQ_API_KEY, MISTRAL_API_KEY, XAI_API_KEY, OLLAMA_HOST",
       "The keys of providers, and where Ollama is. pawl doctor says what is missing."},
      {"PAWL_TIER_NAME", "The models of the tier \"name\", unless the configuration has it."},
      {"$XDG_STATE_HOME/pawl/trust, ~/.local/state/pawl/trust",
       "Which files sessions could write, and what they said before: pawl trust. Without such a "
       "place it is in the data directory."},
      {"DATA/logs/RUN.log", "What a detached run's process says."},
  };
  return all;
}

const CommandEntry* find_command(std::string_view name) {
  const auto& all = commands();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const CommandEntry& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string usage_line(const CommandEntry& command) {
  std::string line = "pawl " + std::string(command.name);
  for (const ArgumentSpec& argument : command.arguments) {
    const std::string name(argument.name);
    line += argument.need == Need::optional ? " [" + name + "]" : " " + name;
    if (argument.need == Need::one_or_more) line += "...";
  }
  return line + " [options]";
}

std::string option_label(const OptionSpec& option) {
  std::string label;
  if (option.letter != '\0') label = std::string("-") + option.letter + ", ";
  label += "--" + std::string(option.name);
  if (option.takes == Takes::value_maybe) label += " [" + std::string(option.value) + "]";
  if (option.takes == Takes::value || option.takes == Takes::values) {
    label += " " + std::string(option.value);
  }
  return label;
}

}  // namespace pawl
