// Blobs whose bytes were let go while their run stays. The row stays, with a note in place of the
// bytes that says when; it proves itself, so that no damage is taken for one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/adapter/journal_sqlite/slice.h"
#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/store.h"

namespace pawl::sqlite {

// What stands in place of the bytes.
std::string expiry_note(const Digest& digest, std::int64_t at_ms);
// When they went, if `bytes` are the note of this blob.
std::optional<std::int64_t> read_expiry_note(const Digest& digest, std::string_view bytes);

// On an open transaction: as many of the blobs as the budget allows, from number `from` on, and at
// least one. How many of them are done with. not_found, conflict: see Retention.
Result<std::size_t> expire_slice(Connection& connection, const Expiry& expiry, std::size_t from,
                                 const SliceBudget& budget);

// Reads, on any connection; `run` is its number.
Result<std::vector<KeptBlob>> kept_blobs(Connection& connection, std::int64_t run);
Result<std::optional<std::int64_t>> expired_at(Connection& connection, std::int64_t run,
                                               const Digest& digest);

}  // namespace pawl::sqlite
