// Takes an exported run into a store. Nothing of it is run.
#pragma once

#include <functional>
#include <memory>

#include "pawl/history/export_reader.h"
#include "pawl/store.h"

namespace pawl {

// Reads the whole file and checks it before anything is written; `done` gets what was imported, or
// what is wrong with the file (invalid_argument, naming the line), or conflict: there is such a run
// already. Until all of it is durable the run is quarantined; if its writing is cut short it stays
// so. `done` is called on the loop thread, never from inside.
void import_run(Loop& loop, const Store& store, std::shared_ptr<LineSource> lines,
                std::optional<RunId> id, std::function<void(Result<ExportReport>)> done);

}  // namespace pawl
