#include "pawl/adapter/journal_sqlite/expiry.h"

#include <charconv>

#include "pawl/adapter/journal_sqlite/places.h"
#include "pawl/port/journal_checks.h"

namespace pawl::sqlite {
namespace {

constexpr std::string_view kMark = "pawl-expired:";
constexpr const char* kFind = "SELECT no FROM runs WHERE id = ?";
constexpr const char* kLength = "SELECT id, length(bytes) FROM blobs WHERE run = ? AND digest = ?";
constexpr const char* kEmpty = "UPDATE blobs SET bytes = ? WHERE id = ?";
// A note has at most 98 bytes: the mark, a time of twenty characters, a colon, a digest. The length
// of a row is known without reading it, so that only what may be a note is read.
constexpr const char* kNote =
    "SELECT bytes FROM blobs WHERE run = ? AND digest = ? AND length(bytes) < 100";
constexpr const char* kKept =
    "SELECT digest, length(bytes), CASE WHEN length(bytes) < 100 THEN bytes ELSE x'' END "
    "FROM blobs WHERE run = ?";

Result<std::optional<std::int64_t>> number_of(Connection& connection, const RunId& run) {
  Query find(connection, kFind);
  PAWL_TRY(const bool found, find.text(run.text).next());
  if (!found) return std::optional<std::int64_t>();
  return std::optional(find.number_at(0));
}

struct Row {
  std::int64_t id = 0;
  std::uint64_t bytes = 0;
};

Result<std::optional<Row>> find_row(Connection& connection, std::int64_t run,
                                    const Digest& digest) {
  Query find(connection, kLength);
  PAWL_TRY(const bool found, find.number(run).blob(digest.view()).next());
  if (!found) return std::optional<Row>();
  return std::optional(Row{find.number_at(0), find.unsigned_at(1)});
}

// What is gone already keeps its day.
Status expire_one(Connection& connection, std::int64_t run, const Digest& digest,
                  std::int64_t at_ms, Spending& spending) {
  PAWL_TRY(const auto row, find_row(connection, run, digest));
  if (!row) return ok();
  PAWL_TRY(const auto before, expired_at(connection, run, digest));
  if (before) return ok();
  spending.row(row->bytes);
  const std::string note = expiry_note(digest, at_ms);
  return Query(connection, kEmpty).blob(note).number(row->id).run();
}

}  // namespace

std::string expiry_note(const Digest& digest, std::int64_t at_ms) {
  const std::string text = std::string(kMark) + std::to_string(at_ms) + ":";
  return text + to_hex(Sha256().add(text).add(digest.view()).finish());
}

std::optional<std::int64_t> read_expiry_note(const Digest& digest, std::string_view bytes) {
  if (!bytes.starts_with(kMark)) return std::nullopt;
  const std::string_view rest = bytes.substr(kMark.size());
  std::int64_t at_ms = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), at_ms).ec != std::errc{}) {
    return std::nullopt;
  }
  if (expiry_note(digest, at_ms) != bytes) return std::nullopt;
  return at_ms;
}

Result<std::size_t> expire_slice(Connection& connection, const Expiry& expiry, std::size_t from,
                                 const SliceBudget& budget) {
  PAWL_TRY(const auto number, number_of(connection, expiry.run));
  if (!number) return no_such_run(expiry.run);
  PAWL_CHECK(ensure_tail(connection));
  PAWL_TRY(const std::uint64_t length, length_of(connection, *number));
  PAWL_CHECK(check_length(expiry.run, length, expiry.length));
  Spending spending(budget);
  std::size_t at = from;
  while (at < expiry.blobs.size() && (at == from || !spending.is_over())) {
    PAWL_CHECK(expire_one(connection, *number, expiry.blobs[at], expiry.at_ms, spending));
    ++at;
  }
  return at - from;
}

Result<std::vector<KeptBlob>> kept_blobs(Connection& connection, std::int64_t run) {
  std::vector<KeptBlob> kept;
  Query query(connection, kKept);
  query.number(run);
  while (true) {
    PAWL_TRY(const bool row, query.next());
    if (!row) return kept;
    const auto digest = digest_from_raw(query.blob_at(0));
    if (!digest) return Error{ErrorCode::corrupt, "table blobs has a digest that is none"};
    if (!read_expiry_note(*digest, query.blob_at(2))) {
      kept.push_back({*digest, query.unsigned_at(1)});
    }
  }
}

Result<std::optional<std::int64_t>> expired_at(Connection& connection, std::int64_t run,
                                               const Digest& digest) {
  Query query(connection, kNote);
  PAWL_TRY(const bool found, query.number(run).blob(digest.view()).next());
  if (!found) return std::optional<std::int64_t>();
  return read_expiry_note(digest, query.blob_at(0));
}

}  // namespace pawl::sqlite
