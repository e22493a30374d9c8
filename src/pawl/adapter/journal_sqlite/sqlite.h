// A thin layer over SQLite's C API: handles that close themselves, statements prepared once, errors
// as values. One connection belongs to one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pawl/adapter/journal_sqlite/known_runs.h"
#include "pawl/adapter/journal_sqlite/newest.h"
#include "pawl/adapter/journal_sqlite/tail.h"
#include "pawl/result.h"

namespace pawl::sqlite {

// What a failure means for a transaction.
enum class Fault {
  none,
  full,    // No space: roll back, try again later.
  busy,    // Another process writes: try again later.
  toobig,  // The caller's value is larger than SQLite takes.
  other,   // Nothing is known about what is on disk: stop.
};

class Connection {
 public:
  // The file must exist; an empty one is an empty database.
  static Result<std::unique_ptr<Connection>> open(const std::string& path);
  // For looking only. Ignoring the log needs no file but the database, and must not be done while
  // anybody writes.
  enum class Log : std::uint8_t { included, ignored };
  static Result<std::unique_ptr<Connection>> open_to_read(const std::string& path, Log log);
  ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Statements without parameters and rows.
  Status execute(const std::string& sql);
  Result<std::int64_t> integer_of(const std::string& sql);

  // Asked while another process holds a lock, with the number of times asked before; false gives
  // up.
  void set_busy_handler(std::function<bool(int)> handler);
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }

  // The first fault since clear_fault().
  Fault fault() const { return fault_; }
  void clear_fault() { fault_ = Fault::none; }
  // Notes the connection's last result code as fault and error. `what` names what was tried.
  Error failed(std::string_view what);

  sqlite3* handle() { return handle_.get(); }
  // The name of the log, from the salts of its header; each time it starts over it gets another
  // one. 0: there is no log yet.
  Result<std::int64_t> log_name();
  // False: the name of the database leads to another file now, or to none.
  bool is_in_place();
  // See places.h.
  Tail& tail() { return tail_; }
  KnownRuns& known_runs() { return known_runs_; }
  // What the present transaction has added; see mark.h.
  Newest& newest() { return newest_; }
  // As after a rollback: nothing is known of what is in the tables.
  void forget();
  // To be called in a transaction: whether anybody else has written since the last call. True at
  // first.
  Result<bool> others_have_written();

 private:
  friend class Query;
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  Connection() = default;
  static Result<std::unique_ptr<Connection>> open(const std::string& name, const std::string& path,
                                                  int flags);
  sqlite3_stmt* prepare(const char* sql);

  // Before the statements: they must be finalized before the connection closes.
  std::unique_ptr<sqlite3, Close> handle_;
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
  std::function<bool(int)> busy_handler_;
  Fault fault_ = Fault::none;
  Tail tail_;
  KnownRuns known_runs_;
  Newest newest_;
  std::optional<std::int64_t> version_seen_;
};

// One execution of a prepared statement. Ends the statement's read transaction when destroyed, so
// it must not be kept. `sql` must be a constant: the cache of prepared statements goes by its
// address. Bound strings must live until the last next().
class Query {
 public:
  Query(Connection& connection, const char* sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // Parameters, in order. Numbers over INT64_MAX do not occur in a store.
  Query& number(std::int64_t value);
  Query& number(std::uint64_t value) { return number(static_cast<std::int64_t>(value)); }
  Query& text(std::string_view value);
  Query& blob(std::string_view value);
  Query& null();

  // True: there is a row. False: no more.
  Result<bool> next();
  // Runs a statement whose rows, if any, do not matter.
  Status run();

  // The columns of the row. Views live until the next call of next().
  std::int64_t number_at(int column) const;
  std::uint64_t unsigned_at(int column) const {
    return static_cast<std::uint64_t>(number_at(column));
  }
  std::string_view text_at(int column) const;
  std::string_view blob_at(int column) const;
  bool null_at(int column) const;

 private:
  Connection& connection_;
  sqlite3_stmt* statement_;
  const char* sql_;
  int bound_ = 0;
};

}  // namespace pawl::sqlite
