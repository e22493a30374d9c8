// Takes the messages that other processes left in a run's inbox.
#pragma once

#include <cstdint>
#include <set>

#include "pawl/run/call_judge.h"
#include "pawl/run/driven_run.h"

namespace pawl {

class DriverInbox {
 public:
  DriverInbox(DrivenRun& run, CallJudge& judge) : run_(run), judge_(judge) {}

  // Feeds what has come since the last time.
  void take() { take(CommandDrive::driven); }
  // Feeds the commands alone, for a run that nothing is started for.
  void take_commands() { take(CommandDrive::undriven); }
  // Deletes the rows that were refused, unless a record is in flight that does it.
  void drop_refused();
  // The store refused the record that ends the run because a row waits in the inbox. Brings the run
  // back to its state before that record. False: that failed, and the driver has ended.
  bool take_back_end(const Record& refused);

 private:
  void take(CommandDrive drive);
  Status prepare(CommandDrive drive, Event& event);
  void on_unreadable(const Error& error);

  DrivenRun& run_;
  CallJudge& judge_;
  std::set<std::uint64_t> seen_;  // rows that were fed or refused
  std::uint64_t ends_refused_ = 0;
};

}  // namespace pawl
