// Bringing a store of an older version up. Policy: docs/journal-sqlite.md, "Versions".
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/result.h"

namespace pawl::sqlite {

// One step, from a version to the next. Runs in the transaction of all steps.
struct Migration {
  std::uint32_t from = 0;
  Status (*run)(Connection& connection) = nullptr;
};

// Every step that there has been, in order: from 1 to the present version without a gap.
std::span<const Migration> migrations();

// Whether somebody else has the store open, perhaps an older Pawl that would not know what happened
// to it.
enum class Access : std::uint8_t { alone, shared };

// The database is of version `from`. It is copied to `path`.vFROM, and then all steps to `to` are
// made in one transaction; after an error it is as it was. unavailable: not alone, or no space.
struct Upgrade {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Access access = Access::alone;
};
Status migrate(Connection& connection, const std::string& path, const Upgrade& upgrade,
               std::span<const Migration> steps);

}  // namespace pawl::sqlite
