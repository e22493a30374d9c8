#include "pawl/adapter/journal_sqlite/migration.h"

#include "pawl/adapter/journal_sqlite/copying.h"

namespace pawl::sqlite {
namespace {

Status run_steps(Connection& connection, const Upgrade& upgrade, std::span<const Migration> steps) {
  std::uint32_t version = upgrade.from;
  for (const Migration& step : steps) {
    if (step.from < version) continue;
    if (step.from != version || version == upgrade.to) break;
    PAWL_CHECK(step.run(connection));
    ++version;
  }
  if (version != upgrade.to) {
    return Error{ErrorCode::invalid_argument, "there is no way from store version " +
                                                  std::to_string(version) + " to " +
                                                  std::to_string(upgrade.to)};
  }
  return connection.execute("PRAGMA user_version = " + std::to_string(version));
}

}  // namespace

std::span<const Migration> migrations() {
  return {};  // Version 1 is the first.
}

Status migrate(Connection& connection, const std::string& path, const Upgrade& upgrade,
               std::span<const Migration> steps) {
  if (upgrade.access == Access::shared) {
    return Error{ErrorCode::unavailable,
                 path + " is of an older version (" + std::to_string(upgrade.from) +
                     ") and open in another process; end that one first. Nothing was changed"};
  }
  PAWL_CHECK(copy_database(connection, path + ".v" + std::to_string(upgrade.from)));
  PAWL_CHECK(connection.execute("BEGIN IMMEDIATE"));
  Status done = run_steps(connection, upgrade, steps);
  if (done) done = connection.execute("COMMIT");
  if (!done && connection.in_transaction()) static_cast<void>(connection.execute("ROLLBACK"));
  return done;
}

}  // namespace pawl::sqlite
