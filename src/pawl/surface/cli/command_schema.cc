// schema: the JSON Schema of charters, for editors.
#include "pawl/charter/charter_schema.h"
#include "pawl/surface/cli/commands.h"

namespace pawl {
namespace {

int command_schema(const CliContext& context) {
  print(context, std::string(charter_schema_text()));
  return kExitDone;
}

}  // namespace

CommandEntry schema_entry() {
  return {
      .name = "schema",
      .summary = "Print the JSON Schema of charters",
      .text =
          "For editors. pawl schema > charter.schema.json, and as the first line of a charter: # "
          "yaml-language-server: $schema=charter.schema.json",
      .settings = SettingsUse::unused,
      .run = command_schema,
  };
}

}  // namespace pawl
