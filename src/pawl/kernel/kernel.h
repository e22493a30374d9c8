// The kernel: pure functions. check() says whether an event is accepted; advance() applies it,
// decides what follows and applies that; fold() applies a record that was made before.
#pragma once

#include <string>

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

// Whether the run accepts the event. One that its state does not accept is a conflict naming both:
// late results and lost races end here.
Status check(const Run& run, const Event& event, const Stamp& stamp);

// Takes an event that holds its stamp in a record of its own: the rest of the record is filled in,
// and nothing is moved about. On an error the run is as it was, and the record is for nobody.
Status advance(Run& run, Record& record);
Result<Record> advance(Run& run, Event event, const Stamp& stamp);

// Applies a record. One that does not fit the run is corrupt and leaves it unusable: throw it away.
Status fold(Run& run, const Record& record);

// Which events a run accepts in each state, and an instance in each phase, one line each; made from
// the overload set that checks.
std::string transition_table();

}  // namespace pawl
