// The kernel: two pure functions. decide() says what follows from an event, fold() applies what was
// recorded; advance() is one after the other.
#pragma once

#include <string>

#include "pawl/kernel/record.h"
#include "pawl/kernel/run.h"

namespace pawl {

// What follows from `event`. An event that the phase does not accept is a conflict naming both, and
// nothing happens: late results and lost races end here.
Result<Record> decide(const Run& run, Event event, const Stamp& stamp);

// Applies a record. One that does not fit the run is corrupt and leaves it unusable: throw it away.
Status fold(Run& run, const Record& record);

// decide, then fold. On an error the run is as it was.
Result<Record> advance(Run& run, Event event, const Stamp& stamp);

// The same for a record that holds its event and stamp already: the rest of it is filled in, and
// nothing is moved about. On an error the run is as it was, and the record is for nobody.
Status advance(Run& run, Record& record);

// Which events each phase accepts, one line a phase, made from the overload set that decides.
std::string transition_table();

}  // namespace pawl
