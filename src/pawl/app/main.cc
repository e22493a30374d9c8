#include <csignal>

#include "pawl/adapter/host/console.h"
#include "pawl/adapter/host/private_memory.h"
#include "pawl/adapter/journal_sqlite/stop_gate.h"
#include "pawl/app/program.h"

int main(int argc, char** argv) {
  pawl::keep_memory_private();
  pawl::ensure_standard_streams();
  pawl::end_when_out_of_memory();
  std::signal(SIGPIPE, SIG_IGN);  // Who closes the pipe ends the reading, not the run.
  std::signal(SIGCHLD, SIG_DFL);  // A parent's wish to ignore it comes with execve().
  pawl::sqlite::stop_only_between_commits();
  pawl::Program program;
  return pawl::run_cli(argc, argv, program);
}
