#include "pawl/adapter/journal_sqlite/sqlite.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <utility>

namespace pawl::sqlite {
namespace {

constexpr int kLogSaltBytes = 8;
constexpr int kLogSaltOffset = 16;

Fault fault_of(int extended_code, int system_errno) {
  switch (extended_code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
      return Fault::none;
    case SQLITE_FULL:
      return Fault::full;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:  // SQLite's own patience with a contended log ran out.
      return Fault::busy;
    case SQLITE_TOOBIG:
      return Fault::toobig;
    default:
      break;
  }
  // The index of the log grows by writes of its own, which SQLite reports as I/O errors. Nothing of
  // the transaction depends on them. An fsync that runs out of space is not in this list.
  const bool grows = extended_code == SQLITE_IOERR_SHMSIZE || extended_code == SQLITE_IOERR_SHMOPEN;
  return grows && system_errno == ENOSPC ? Fault::full : Fault::other;
}

ErrorCode error_code_of(int extended_code) {
  switch (extended_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::corrupt;
    case SQLITE_TOOBIG:
      return ErrorCode::limit_exceeded;
    default:
      return ErrorCode::unavailable;
  }
}

std::string uri_escaped(const std::string& path) {
  static constexpr char kHexDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : path) {
    if (c != '%' && c != '?' && c != '#') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHexDigits[byte >> 4U], kHexDigits[byte & 15U]};
  }
  return out;
}

// SQLite reports a disk that fails to read as damage, and keeps the reason to itself. What cannot
// be read now may be there later, so its calls are listened to. Nothing else changes by this, for
// other users of SQLite in this process neither.
thread_local bool read_has_failed = false;

ssize_t noting_pread(int fd, void* bytes, size_t count, off_t offset) {
  const ssize_t got = ::pread(fd, bytes, count, offset);
  if (got < 0 && errno != EINTR) read_has_failed = true;
  return got;
}

void listen_to_reads() {
  sqlite3_vfs* vfs = sqlite3_vfs_find(nullptr);
  if (vfs == nullptr || vfs->iVersion < 3 || vfs->xSetSystemCall == nullptr) return;
  for (const char* name : {"pread", "pread64"}) {
    vfs->xSetSystemCall(vfs, name, reinterpret_cast<sqlite3_syscall_ptr>(noting_pread));
  }
}

int call_busy_handler(void* handler, int asked) {
  return (*static_cast<std::function<bool(int)>*>(handler))(asked) ? 1 : 0;
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path) {
  return open(path, path, SQLITE_OPEN_READWRITE);
}

Result<std::unique_ptr<Connection>> Connection::open_to_read(const std::string& path, Log log) {
  const std::string name =
      "file:" + uri_escaped(path) + (log == Log::ignored ? "?immutable=1" : "");
  return open(name, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

Result<std::unique_ptr<Connection>> Connection::open(const std::string& name,
                                                     const std::string& path, int flags) {
  static std::once_flag listening;
  std::call_once(listening, listen_to_reads);
  std::unique_ptr<Connection> connection(new Connection);
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  connection->handle_.reset(handle);
  if (code != SQLITE_OK) return connection->failed("opening " + path);
  // The journal decides itself when the log is written back: never after a failed commit.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return connection;
}

Status Connection::execute(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failed(sql);
  }
  return ok();
}

Result<std::int64_t> Connection::integer_of(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(handle(), sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) return failed(sql);
  const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
  if (sqlite3_step(raw) != SQLITE_ROW) return failed(sql);
  return sqlite3_column_int64(raw, 0);
}

void Connection::set_busy_handler(std::function<bool(int)> handler) {
  busy_handler_ = std::move(handler);
  sqlite3_busy_handler(handle(), call_busy_handler, &busy_handler_);
}

Error Connection::failed(std::string_view what) {
  if (!handle_) {
    fault_ = Fault::other;
    return Error{ErrorCode::unavailable, "SQLite: out of memory"};
  }
  const int code = sqlite3_extended_errcode(handle());
  const Fault fault = fault_of(code, sqlite3_system_errno(handle()));
  if (fault_ == Fault::none) fault_ = fault;
  ErrorCode kind = error_code_of(code);
  const bool disk_failed = std::exchange(read_has_failed, false);
  if (kind == ErrorCode::corrupt && disk_failed) kind = ErrorCode::unavailable;
  return Error{kind, "SQLite: " + std::string(sqlite3_errmsg(handle())) + " (code " +
                         std::to_string(code) + ") in: " + std::string(what)};
}

void Connection::forget() {
  tail_.forget();
  known_runs_.forget();
}

Result<std::int64_t> Connection::log_name() {
  sqlite3_file* log = nullptr;
  const int found = sqlite3_file_control(handle(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (found != SQLITE_OK || log == nullptr || log->pMethods == nullptr) return std::int64_t{0};
  std::array<std::uint8_t, kLogSaltBytes> salts{};
  const int read = log->pMethods->xRead(log, salts.data(), kLogSaltBytes, kLogSaltOffset);
  if (read == SQLITE_IOERR_SHORT_READ) return std::int64_t{0};
  if (read != SQLITE_OK) {
    return Error{ErrorCode::unavailable,
                 "the header of the log cannot be read (SQLite code " + std::to_string(read) + ")"};
  }
  std::uint64_t name = 0;
  for (const std::uint8_t byte : salts) name = name << 8U | byte;
  return static_cast<std::int64_t>(name);
}

bool Connection::is_in_place() {
  int moved = 0;
  const int asked = sqlite3_file_control(handle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return asked != SQLITE_OK || moved == 0;
}

Result<bool> Connection::others_have_written() {
  Query query(*this, "PRAGMA data_version");
  PAWL_TRY(const bool row, query.next());
  if (!row) return Error{ErrorCode::unavailable, "SQLite gives no data version"};
  return std::exchange(version_seen_, query.number_at(0)) != query.number_at(0);
}

sqlite3_stmt* Connection::prepare(const char* sql) {
  auto& statement = statements_[sql];
  if (!statement) {
    sqlite3_stmt* raw = nullptr;
    sqlite3_prepare_v3(handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    statement.reset(raw);
  }
  return statement.get();
}

Query::Query(Connection& connection, const char* sql)
    : connection_(connection), statement_(connection.prepare(sql)), sql_(sql) {}

Query::~Query() {
  if (!statement_) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::number(std::int64_t value) {
  if (statement_) sqlite3_bind_int64(statement_, ++bound_, value);
  return *this;
}

Query& Query::text(std::string_view value) {
  if (statement_) {
    sqlite3_bind_text64(statement_, ++bound_, value.data(), value.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
  }
  return *this;
}

Query& Query::blob(std::string_view value) {
  // A null pointer would bind NULL instead of a blob of no bytes.
  const char* data = value.data() ? value.data() : "";
  if (statement_) sqlite3_bind_blob64(statement_, ++bound_, data, value.size(), SQLITE_STATIC);
  return *this;
}

Query& Query::null() {
  if (statement_) sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

Result<bool> Query::next() {
  if (!statement_) return connection_.failed(sql_);
  switch (sqlite3_step(statement_)) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return connection_.failed(sql_);
  }
}

Status Query::run() {
  PAWL_TRY(bool more, next());
  while (more) {
    PAWL_TRY(more, next());
  }
  return ok();
}

std::int64_t Query::number_at(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view Query::text_at(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::string_view Query::blob_at(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

bool Query::null_at(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

}  // namespace pawl::sqlite
