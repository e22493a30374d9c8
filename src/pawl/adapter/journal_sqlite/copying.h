// Copies a store while it is in use, on a thread and a connection of its own.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "pawl/adapter/journal_sqlite/sqlite.h"
#include "pawl/loop.h"
#include "pawl/result.h"
#include "pawl/store.h"

namespace pawl::sqlite {

// Blocking. The database of this connection as it is now, in a file `target` (0600) that is there
// only when it is whole and durable; one that was there is replaced.
Status copy_database(Connection& connection, const std::string& target);

// Blocking. A new directory `target` (0700) with the database in it (0600), made under another name
// beside it and renamed when it is durable. Unused pages, and what they held, are not in it. Gives
// up when `stop` becomes true.
Status copy_store(const std::string& database, const std::string& target,
                  const std::atomic<bool>& stop);

class Copying {
 public:
  // `done` is called on the loop, unless this is destroyed before: then the copy is given up.
  Copying(const std::string& database, const std::string& target, Loop& loop, StatusCallback done);
  ~Copying();
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

  bool is_over() const { return *over_; }

 private:
  std::atomic<bool> stop_{false};
  std::shared_ptr<bool> over_ = std::make_shared<bool>(false);  // loop thread only
  std::thread thread_;
};

}  // namespace pawl::sqlite
