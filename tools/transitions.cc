// Prints which events each state of a run and each phase of an instance accepts: the table of
// docs/transitions.md.
#include <cstdio>

#include "pawl/kernel/kernel.h"

int main() {
  const std::string table = pawl::transition_table();
  return std::fwrite(table.data(), 1, table.size(), stdout) == table.size() ? 0 : 1;
}
