// The embedded store as hosts open it.
#include <utility>

#include "pawl/adapter/journal_sqlite/journal_sqlite.h"
#include "pawl/store.h"

namespace pawl {

StoreOpener sqlite_store(std::string directory) {
  return [directory = std::move(directory)](Loop& loop) -> Result<OpenedStore> {
    PAWL_TRY(std::shared_ptr<SqliteJournal> opened, SqliteJournal::open(directory, loop));
    OpenedStore made;
    made.store = {opened.get(), opened.get(), opened.get(), opened.get(),
                  opened.get(), opened.get(), opened.get()};
    made.owner = std::move(opened);
    return made;
  };
}

}  // namespace pawl
