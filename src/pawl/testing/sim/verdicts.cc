#include "pawl/testing/sim/verdicts.h"

#include <algorithm>

#include "pawl/kernel/codec.h"
#include "pawl/port/journal_checks.h"
#include "pawl/words.h"

namespace pawl::sim {
namespace {

void take_rows(std::vector<InboxRow>& rows, const std::vector<std::uint64_t>& taken) {
  std::erase_if(rows, [&](const InboxRow& row) {
    return std::find(taken.begin(), taken.end(), row.row) != taken.end();
  });
}

Status check_epoch(const RunId& run, std::uint64_t is, std::uint64_t given) {
  if (is == given) return ok();
  return conflict(run, "is at epoch " + std::to_string(is) + ", not " + std::to_string(given));
}

}  // namespace

Verdicts::View& Verdicts::view(const RunId& run) {
  const auto [found, added] = views_.try_emplace(run.text);
  View& view = found->second;
  if (!added) return view;
  view.epoch = index_.epoch_of(run);
  const auto listed = index_.list({run.text, "", "", 1});
  if (!listed->empty() && listed->front().id == run) {
    view.length = listed->front().length;
    view.status = listed->front().status;
    view.rows = *index_.pending(run);
  }
  return view;
}

Status Verdicts::judge(const Op& op) {
  if (const auto* append = std::get_if<Append>(&op)) return judge(*append);
  if (const auto* post = std::get_if<PostOp>(&op)) return judge(*post);
  if (const auto* drop = std::get_if<DropOp>(&op)) return judge(*drop);
  return ok();
}

Status Verdicts::check(const Append& append, View& run) const {
  if (failed_.contains(append.run.text)) {
    return conflict(append.run, "had a failed append before this one");
  }
  PAWL_CHECK(check_limits(append));
  PAWL_CHECK(check_epoch(append.run, run.epoch, append.epoch));
  PAWL_CHECK(check_length(append.run, run.length, append.seq));
  if (append.seq == 0 && !append.summary) {
    return Error{ErrorCode::invalid_argument, "the first record of a run needs a summary"};
  }
  if (!ends_run(append) || bug_ == PlantedBug::end_over_inbox) return ok();
  std::vector<InboxRow> left = run.rows;
  take_rows(left, append.inbox_taken);
  return left.empty() ? ok() : Status(inbox_waits(append.run));
}

Status Verdicts::judge(const Append& append) {
  View& run = view(append.run);
  Status verdict = check(append, run);
  if (!verdict) {
    failed_.insert(append.run.text);
    return verdict;
  }
  ++run.length;
  take_rows(run.rows, append.inbox_taken);
  if (append.summary) run.status = append.summary->status;
  return verdict;
}

Status Verdicts::judge(const PostOp& post) {
  PAWL_CHECK(check_inbox_limits(post.body));
  View& run = view(post.run);
  if (run.length == 0) return no_such_run(post.run);
  if (is_terminal(run.status)) return conflict(post.run, "has ended: " + run.status);
  if (run.rows.size() >= kInboxRowsMax) {
    return Error{ErrorCode::limit_exceeded, "the inbox of run " + post.run.text + " is full"};
  }
  const auto question = question_of(post.body);
  const auto answers = [&](const InboxRow& row) { return question_of(row.body) == question; };
  if (question && std::any_of(run.rows.begin(), run.rows.end(), answers)) {
    return conflict(post.run, kAnsweredBefore);
  }
  run.rows.push_back({post.row, post.at_ms, post.body});
  return ok();
}

Status Verdicts::judge(const DropOp& drop) {
  View& run = view(drop.run);
  if (run.length == 0) return no_such_run(drop.run);
  PAWL_CHECK(check_epoch(drop.run, run.epoch, drop.epoch));
  take_rows(run.rows, drop.rows);
  return ok();
}

}  // namespace pawl::sim
