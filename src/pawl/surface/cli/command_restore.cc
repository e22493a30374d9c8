// restore: a backup in the place of the data directory.
#include <fmt/format.h>

#include <algorithm>

#include "pawl/json.h"
#include "pawl/surface/cli/commands.h"
#include "pawl/surface/cli/escape.h"
#include "pawl/surface/cli/paused_runs.h"

namespace pawl {
namespace {

constexpr std::size_t kPathColumns = 400;
constexpr std::size_t kPausedNamedMax = 20;

std::string restored_json(const std::string& directory, const StoreRestoration& restored) {
  JsonWriter json;
  json.begin_object().field("restored", directory).field("aside", restored.aside);
  json.key("paused").begin_array();
  for (const std::string& run : restored.paused) json.string(run);
  return json.end_array().end_object().take() + "\n";
}

}  // namespace

std::string paused_runs_text(const CliContext& context, const std::vector<std::string>& runs) {
  if (runs.empty()) return "";
  std::string text = fmt::format(
      "{} runs that are not over are paused: calls that they no longer know of may have been made. "
      "Look at each, then carry it on:\n",
      runs.size());
  for (std::size_t i = 0; i < std::min(runs.size(), kPausedNamedMax); ++i) {
    const std::string command = with_data_flag(context, "pawl resume " + runs[i]);
    text += fmt::format("  {}\n", safe_line(command, kPathColumns));
  }
  if (runs.size() > kPausedNamedMax) {
    text += fmt::format("  and {} more: pawl ls lists them\n", runs.size() - kPausedNamedMax);
  }
  return text;
}

namespace {

int command_restore(const CliContext& context) {
  const std::string backup = context.arguments.one_or("BACKUP", "");
  const std::string directory = context.arguments.one_or("DIR", context.settings.data);
  const auto restored = context.environment.restore_store(backup, directory);
  if (!restored) return fail(context, restored.error());
  if (context.format() == Format::json) {
    print(context, restored_json(directory, *restored));
    return kExitDone;
  }
  print(context, fmt::format("restored {} from {}\n", safe_line(directory, kPathColumns),
                             safe_line(backup, kPathColumns)));
  if (!restored->aside.empty()) {
    print(context, fmt::format("what was there before is in {}\n",
                               safe_line(restored->aside, kPathColumns)));
  }
  print(context, paused_runs_text(context, restored->paused));
  return kExitDone;
}

}  // namespace

CommandEntry restore_entry() {
  return {
      .name = "restore",
      .summary = "Put a backup in the place of the data directory",
      .text =
          "Copies BACKUP, checks the copy, and then exchanges the two directories in one step. "
          "What was there is kept beside it, as a whole. Runs that are not over are paused: what "
          "they did after the backup was made, they do not know. Refused while a process has the "
          "directory open.",
      .arguments = {{"BACKUP", "A directory that pawl backup made."},
                    {"DIR", "The directory to replace; the data directory if it is not named.",
                     Need::optional}},
      .run = command_restore,
  };
}

}  // namespace pawl
