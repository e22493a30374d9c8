// The contract of pawl/store.h as a test. Each adapter's *_test.cc calls check_journal_contract()
// with a Store: a struct with members `loop` (a TestLoop) and `journal` (an object that is a
// Journal, JournalReader, Catalog and Inbox, empty at first).
#pragma once

#include <doctest/doctest.h>

#include <vector>

#include "tests/contract/journal_contract_appends.h"
#include "tests/contract/journal_contract_driving.h"
#include "tests/contract/journal_contract_reads.h"
#include "tests/contract/journal_contract_support.h"

namespace pawl::contract {

// Every check on a store of its own.
template <class Store>
void check_journal_contract() {
  struct Check {
    const char* sentence;
    void (*run)(Store&);
  };
  const std::vector<Check> checks = {
      {"callbacks never come from inside the call", callbacks_come_later},
      {"acquire raises the epoch, which fences the one before", acquire_raises_the_epoch},
      {"a run has one driver until its hold is gone", one_driver_at_a_time},
      {"a run is driven while its drive is held", a_run_is_driven_while_it_is_held},
      {"too many loads without an append quarantine", failed_loads_quarantine},
      {"a forgiven load does not count", a_forgiven_load_does_not_count},
      {"a quarantine is lifted", a_quarantine_is_lifted},
      {"an append forgives failed loads", an_append_forgives_failed_loads},
      {"a refused append leaves nothing", a_refused_append_leaves_nothing},
      {"an append is whole", an_append_is_whole},
      {"limits hold", limits_hold},
      {"the first record needs a summary", the_first_record_needs_a_summary},
      {"appends of one run complete in order", appends_complete_in_order},
      {"after one append fails, those behind it fail", one_failure_fails_those_behind},
      {"quarantine stops the present driver and keeps reads", quarantine_stops_everyone},
      {"a quarantined run is not driven again", a_quarantined_run_is_not_driven},
      {"a run whose summary says quarantined is not driven", a_summary_can_say_quarantined},
      {"reads come in batches", reads_come_in_batches},
      {"bytes come back as they were", bytes_come_back_as_they_were},
      {"blobs belong to one run", blobs_belong_to_one_run},
      {"snapshots are replaced and dropped", snapshots_are_replaced_and_dropped},
      {"lists find runs", lists_find_runs},
      {"lists come in pages", lists_come_in_pages},
      {"every commit changes the version", every_commit_changes_the_version},
      {"the inbox keeps order and bounds", the_inbox_keeps_order_and_bounds},
      {"an ended run takes no messages", an_ended_run_takes_no_messages},
      {"a run does not end over its inbox", a_run_does_not_end_over_its_inbox},
      {"a row is taken only from its run", a_row_is_taken_only_from_its_run},
      {"a row is taken alone", a_row_is_taken_alone},
      {"of the answers to a question one waits", of_the_answers_to_a_question_one_waits},
      {"refused rows are dropped by whoever drives", refused_rows_are_dropped},
  };
  for (const Check& check : checks) {
    SUBCASE(check.sentence) {
      Store store;
      check.run(store);
    }
  }
}

}  // namespace pawl::contract
