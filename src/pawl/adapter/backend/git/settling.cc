#include "pawl/adapter/backend/git/settling.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "pawl/adapter/backend/git/index_changes.h"
#include "pawl/adapter/backend/git/plain_file.h"
#include "pawl/adapter/backend/git/ref_names.h"
#include "pawl/base/sha1.h"

namespace pawl::git {
namespace {

using Kind = RefStep::Kind;

constexpr std::size_t kShortDigits = 10;
constexpr std::size_t kShownNameMax = 120;
const std::string kNoObject(40, '0');

std::string shortened(const std::string& object) {
  return object.empty() ? "nothing" : object.substr(0, kShortDigits);
}

// "refs/heads/main" as "main".
std::string short_name(const std::string& ref) {
  for (const std::string_view prefix : {"refs/heads/", "refs/"}) {
    if (ref.starts_with(prefix)) return ref.substr(prefix.size()).substr(0, kShownNameMax);
  }
  return ref.substr(0, kShownNameMax);
}

void set(Refs& refs, const std::string& name, const std::string& object) {
  if (object.empty()) {
    refs.erase(name);
  } else {
    refs[name] = object;
  }
}

}  // namespace

void Settling::say(std::string text) {
  if (outcome_.said.size() < kSaidMax) outcome_.said.push_back(std::move(text));
}

Settling::Outcome Settling::perform() {
  if (const Status looked = look_at_both(); !looked) {
    say("nothing of " + sides_.repository.work_tree + " is published: " + looked.error().message);
    return std::move(outcome_);
  }
  import_objects();
  settle_refs();
  settle_stash();
  settle_head();
  settle_index();
  compare();
  return std::move(outcome_);
}

// Git waits for ever for a pipe in the place of a file.
Status Settling::look_inside() {
  outcome_.is_damaged = true;
  for (const char* name : {"HEAD", "index", "packed-refs", "config", "shallow"}) {
    struct stat status{};
    if (::fstatat(sides_.place.number(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(status.st_mode)) {
      return Error{ErrorCode::conflict, std::string(name) + " is not a file any more"};
    }
  }
  PAWL_CHECK(check_index());
  const auto printed = sides_.inside.script(kStateScript, "", kStateBytesMax);
  if (!printed) return printed.error();
  PAWL_TRY(own_, parse_state(*printed));
  if (own_.head.empty()) return Error{ErrorCode::conflict, "HEAD cannot be read any more"};
  outcome_.is_damaged = false;
  return ok();
}

// Git itself does not look at the sum of its index. A sum of zeros is none (index.skipHash).
Status Settling::check_index() const {
  constexpr std::size_t kSumBytes = 20;
  if (sides_.doer == Doer::this_session) return ok();
  const auto index = read_plain_beneath(sides_.place.number(), "index", kIndexBytesMax);
  if (!index || index->size() < kSumBytes) return ok();
  const std::string_view sum = std::string_view(*index).substr(index->size() - kSumBytes);
  const std::string wanted =
      sha1_bytes(std::string_view(*index).substr(0, index->size() - kSumBytes));
  if (wanted.empty() || sum == wanted || sum.find_first_not_of('\0') == sum.npos) return ok();
  return Error{ErrorCode::conflict, "its index is damaged"};
}

// A killed session's HEAD, on a branch that is nowhere.
bool Settling::is_lost(const std::string& head) const {
  return sides_.doer == Doer::killed_session && !is_object_id(head) && !own_.refs.contains(head) &&
         head != agreement_.agreed.head;
}

Status Settling::look_at_both() {
  PAWL_CHECK(look_inside());
  PAWL_TRY(host_, sides_.publisher.state());
  PAWL_TRY(elsewhere_, sides_.publisher.branches_elsewhere());
  host_head_before_ = host_.head_object();
  own_head_before_ = own_.head_object();
  waits_inside_ = is_under_way(sides_.place.number());
  const Descriptor outside(
      ::open(sides_.repository.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  waits_outside_ = !outside || is_under_way(outside.number());
  steps_ = plan_refs(agreement_.agreed.refs, host_.refs, own_.refs, elsewhere_);
  return ok();
}

// Before any ref: what a ref leads to must be there, and who contains whom is the host's to say.
void Settling::import_objects() {
  std::vector<std::vector<std::string>> wanted;
  for (const RefStep& step : steps_) {
    const bool outward = step.kind == Kind::publish || step.kind == Kind::collide;
    if (!outward || step.own.empty()) continue;
    wanted.push_back({step.own});
    if (step.name != kStash) continue;
    const auto listed = sides_.inside.script(kStashScript, "", kStateBytesMax);
    if (listed) stash_ = parse_objects(*listed);
    wanted.back().insert(wanted.back().end(), stash_.begin(), stash_.end());
  }
  if (is_object_id(own_.head) && own_.head != agreement_.agreed.head) {
    wanted.push_back({own_.head});
  }
  const std::vector<std::vector<std::string>> commits = wanted;
  if (!waits_inside_ && digest_of_index(own_.index) != agreement_.agreed.index) {
    const auto changes =
        index_changes(host_.index, own_.index, [](std::string_view) { return false; });
    if (changes && !changes->objects.empty()) wanted.push_back(changes->objects);
  }
  import_each(wanted);
  hold_back(commits);
}

// All at once, and one after the other only where there is a fault.
void Settling::hold_back(const std::vector<std::vector<std::string>>& commits) {
  std::vector<std::string> all;
  for (const auto& tips : commits) {
    std::ranges::copy_if(tips, std::back_inserter(all),
                         [&](const auto& tip) { return has_host(tip); });
  }
  if (all.empty() || sides_.guarded.fault_of_commits(all).empty()) return;
  for (const auto& tips : commits) {
    if (!std::ranges::all_of(tips, [&](const auto& tip) { return has_host(tip); })) continue;
    const std::string fault = sides_.guarded.fault_of_commits(tips);
    if (fault.empty()) continue;
    for (const std::string& tip : tips) missing_.emplace(tip, fault);
  }
}

// All at once; if the host's git does not want that, one after the other, so that a bad object
// holds up nothing but what leads to it.
void Settling::import_each(const std::vector<std::vector<std::string>>& wanted) {
  std::set<std::string> all;
  for (const auto& objects : wanted) all.insert(objects.begin(), objects.end());
  const auto import = [&](const std::set<std::string>& tips) {
    return sides_.publisher.import(sides_.inside, {tips.begin(), tips.end()}, host_.refs);
  };
  if (import(all)) return;
  std::size_t tried = 0;
  for (const auto& objects : wanted) {
    const Status imported = ++tried <= kImportsMax
                                ? import({objects.begin(), objects.end()})
                                : Status(Error{ErrorCode::limit_exceeded, "too many at a time"});
    if (imported) continue;
    for (const std::string& object : objects) missing_.emplace(object, imported.error().message);
  }
}

bool Settling::has_host(const std::string& object) const {
  return object.empty() || !missing_.contains(object);
}

void Settling::settle_refs() {
  for (const RefStep& step : steps_) settle(step);
  take_in_all();
}

void Settling::settle(const RefStep& step) {
  switch (step.kind) {
    case Kind::publish:
      return publish(step);
    case Kind::take_in:
      return take_in(step);
    case Kind::agree:
      set(agreement_.agreed.refs, step.name, step.host);
      outcome_.has_changed = true;
      return;
    case Kind::collide:
      return collide(step);
    case Kind::refuse:
      return say(short_name(step.name) +
                 " is checked out in another work tree outside, so it is not moved there (use "
                 "another branch)");
  }
}

void Settling::publish(const RefStep& step) {
  if (!has_host(step.own)) {
    return say(short_name(step.name) + " is not published: " + missing_.at(step.own));
  }
  const bool removes = step.own.empty();
  if (removes && sides_.doer == Doer::killed_session) {
    say(short_name(step.name) +
        " is missing in the git directory of a session that was killed; it " +
        "stays outside, and is here again");
    return take_in(step);
  }
  if (removes &&
      (step.name == host_.head || (!agreement_.made.contains(step.name) &&
                                   !sides_.publisher.is_reachable_without(step.name, step.host)))) {
    return say(short_name(step.name) +
               " was deleted here and stays outside: nothing else there leads to its commits");
  }
  const auto exists = [&](const std::string& name) { return host_.refs.contains(name); };
  if (!removes && step.host.empty() && is_misleading(step.name, exists)) {
    return say(
        step.name.substr(0, kShownNameMax) +
        " is not published: git outside would take its name for something else, or something "
        "else for it (use another name)");
  }
  const Status moved = step.name == kStash && !removes ? sides_.publisher.move_stash(step, stash_)
                                                       : sides_.publisher.move_ref(step);
  if (!moved) {
    outcome_.was_overtaken = true;
    return say(short_name(step.name) + " is not published: " + moved.error().message);
  }
  if (step.host.empty()) agreement_.made.insert(step.name);
  set(agreement_.agreed.refs, step.name, step.own);
  set(host_.refs, step.name, step.own);
  outcome_.has_changed = true;
}

void Settling::take_in(const RefStep& step) {
  if (step.host.empty() && step.own.empty()) return;
  const std::string& old = step.own.empty() ? kNoObject : step.own;
  to_take_in_ += step.host.empty() ? "delete " + step.name + " " + old + "\n"
                                   : "update " + step.name + " " + step.host + " " + old + "\n";
  taking_in_.push_back(step);
}

// Both have moved it.
void Settling::collide(const RefStep& step) {
  if (step.own.empty()) return take_in(step);
  if (!has_host(step.own)) return publish(step);
  const bool both = !step.host.empty();
  if (both && sides_.publisher.is_ancestor(step.host, step.own)) return publish(step);
  if (both && sides_.publisher.is_ancestor(step.own, step.host)) return take_in(step);
  const std::string name = short_name(step.name);
  if (!both) {
    return say(name + " was deleted outside meanwhile, so what you committed to it is not " +
               "published (use another branch)");
  }
  const std::string shown = std::string(kShownPrefix) + name;
  const auto there = own_.refs.find(shown);
  if (there == own_.refs.end() || there->second != step.host) {
    to_take_in_ += "update " + shown + " " + step.host + "\n";
  }
  say(name + " was moved outside to " + shortened(step.host) + " meanwhile, so your " +
      shortened(step.own) + " is not published. It is host/" + name +
      " here: commit what is in the work tree, merge host/" + name + ", and " + name +
      " is published when that call ends");
}

// By git inside, because only that may lock refs there.
void Settling::take_in_all() {
  if (to_take_in_.empty()) return;
  const auto done = sides_.inside.script("exec git update-ref -m 'from outside' --no-deref --stdin",
                                         std::exchange(to_take_in_, {}), kStateBytesMax);
  if (!done) return say("what changed outside could not be taken in: " + done.error().message);
  for (const RefStep& step : taking_in_) {
    if (step.name == kStash && !step.host.empty()) take_stash_log_in();
    set(agreement_.agreed.refs, step.name, step.host);
    set(own_.refs, step.name, step.host);
    outcome_.has_changed = true;
  }
}

// The stash is a list, and an operator may have taken from it: its log is the list.
void Settling::take_stash_log_in() {
  const auto log = read_plain_file(sides_.repository.common + "/logs/refs/stash", kStateBytesMax);
  const Status taken = log ? sides_.place.write("logs/refs/stash", *log) : Status(log.error());
  if (!taken) say("the list of stashes outside could not be taken in: " + taken.error().message);
}

// Where both have the same newest one, the rest of the list can differ: whoever drops an older one
// moves no ref. What the session dropped goes outside, too; otherwise the list outside counts.
void Settling::settle_stash() {
  const std::string stash(kStash);
  const auto there = host_.refs.find(stash);
  const auto here = own_.refs.find(stash);
  const bool has_both = there != host_.refs.end() && here != own_.refs.end();
  if (!has_both || there->second != here->second) {
    if (there == host_.refs.end()) agreement_.stash.clear();
    return;
  }
  const auto log = read_plain_beneath(sides_.place.number(), "logs/refs/stash", kStateBytesMax);
  const std::vector<std::string> own = log ? stashes_in(*log) : std::vector<std::string>();
  std::vector<std::string> host = sides_.publisher.stashes();
  const auto holds = [](const std::vector<std::string>& list, const std::string& object) {
    return std::ranges::find(list, object) != list.end();
  };
  for (std::size_t at = host.size(); at-- > 0 && own != host && holds(own, here->second);) {
    if (holds(own, host[at]) || !holds(agreement_.stash, host[at])) continue;
    if (!sides_.publisher.drop_stash(at)) break;
    host.erase(host.begin() + static_cast<std::ptrdiff_t>(at));
    outcome_.has_changed = true;
  }
  if (own != host) {
    take_stash_log_in();
    outcome_.has_changed = true;
  }
  agreement_.stash = std::move(host);
}

void Settling::settle_head() {
  const std::string& agreed = agreement_.agreed.head;
  if (waits_inside_ || (host_.head == agreed && own_.head == agreed)) return;
  if (host_.head == own_.head) {
    agreement_.agreed.head = own_.head;
    outcome_.has_changed = true;
    return;
  }
  if (is_lost(own_.head)) {
    say("HEAD of a session that was killed is on " + short_name(own_.head) +
        ", which is no branch; it is what it is outside");
  }
  if (own_.head == agreed || is_lost(own_.head)) {
    const bool detached = is_object_id(host_.head);
    const auto done = sides_.inside.script(
        detached ? "read -r head && exec git update-ref --no-deref HEAD \"$head\""
                 : "read -r head && exec git symbolic-ref HEAD \"$head\"",
        host_.head + "\n", kStateBytesMax);
    if (!done) return say("HEAD outside could not be taken in: " + done.error().message);
    agreement_.agreed.head = own_.head = host_.head;
    outcome_.has_changed = true;
    return;
  }
  if (host_.head != agreed) {
    return say("HEAD outside was switched to " + short_name(host_.head) + " meanwhile, so yours, " +
               short_name(own_.head) + ", is not published (switch to it, or leave it as it is)");
  }
  publish_head();
}

void Settling::publish_head() {
  if (!has_host(own_.head)) return say("HEAD is not published: " + missing_.at(own_.head));
  if (waits_outside_) return say("HEAD is not published while a merge is under way outside");
  if (elsewhere_.contains(own_.head)) {
    return say(short_name(own_.head) +
               " is checked out in another work tree outside, so HEAD is "
               "not switched to it there");
  }
  // The host must not stand on a branch that is another one there.
  const auto there = host_.refs.find(own_.head);
  const std::string outside = there == host_.refs.end() ? std::string() : there->second;
  if (!is_object_id(own_.head) && outside != own_.head_object()) return;
  if (const Status moved = sides_.publisher.move_head(host_, own_.head); !moved) {
    return say("HEAD is not published: " + moved.error().message);
  }
  agreement_.agreed.head = host_.head = own_.head;
  outcome_.has_changed = true;
}

// HEAD inside has gone where the host's went, and the index inside has what a command staged. The
// rest of it is of the old HEAD: published as it is, it would undo the operator's commits. Git
// moves it to the new one, and refuses where both have changed a file. False: it did.
bool Settling::follow_head() {
  const std::string now = own_.head_object();
  auto& behind = agreement_.behind;
  if (behind && behind->head != own_head_before_) behind.reset();  // a command has moved it since
  const std::string before = behind ? behind->index : own_head_before_;
  const bool moved = now != before && !now.empty() && !before.empty();
  if (waits_inside_ || !moved || digest_of_index(own_.index) == agreement_.agreed.index) {
    behind.reset();
    return true;
  }
  auto listed = sides_.inside.script(
      "read -r before && read -r now && git read-tree -i -m \"$before\" \"$now\" && "
      "exec git ls-files -s -z",
      before + "\n" + now + "\n", kStateBytesMax);
  if (!listed) {
    behind = {before, now};
    say("the index here could not follow HEAD, which was moved outside: a file that is staged here "
        "was changed there; neither is published (`git reset` here, then stage again)");
    return false;
  }
  behind.reset();
  own_.index = *std::move(listed);
  outcome_.has_changed = true;
  return true;
}

void Settling::settle_index() {
  if (!follow_head()) return;
  const Digest host = digest_of_index(host_.index);
  const Digest own = digest_of_index(own_.index);
  const Digest agreed = agreement_.agreed.index;
  if (host == own) {
    outcome_.has_changed = outcome_.has_changed || agreed != own;
    agreement_.agreed.index = own;
    return;
  }
  const bool same_head = host_.head == own_.head && host_.head_object() == own_.head_object();
  if (waits_inside_ || !same_head) return;
  if (own == agreed) return take_index_in();
  if (waits_outside_) return say("the index is not published while a merge is under way outside");
  if (host != agreed && !sides_.publisher.is_index_clean(host_head_before_, host_.index)) {
    return say(
        "the index was changed outside meanwhile, so yours is not published (it will be "
        "when nothing is staged there)");
  }
  publish_index();
}

void Settling::take_index_in() {
  const auto time = index_time(sides_.settings, sides_.repository);
  const auto index = read_plain_file(sides_.repository.directory + "/index", kIndexBytesMax);
  const auto still = [] { return ok(); };
  const Status taken =
      index ? replace_locked(sides_.place.number(), "index", *index, sides_.place.owner(), still)
            : Status(index.error());
  if (!taken) return say("the index outside could not be taken in: " + taken.error().message);
  if (time) set_time(sides_.place.number(), "index", *time);
  agreement_.agreed.index = digest_of_index(host_.index);
  own_.index = host_.index;
  outcome_.has_changed = true;
}

void Settling::publish_index() {
  const auto may_link = [&](std::string_view path) {
    return sides_.may_link(sides_.repository.work_tree + "/" + std::string(path));
  };
  const auto changes = index_changes(host_.index, own_.index, may_link);
  if (!changes) return say("the index is not published: " + changes.error().message);
  for (const std::string& path : changes->left_out) {
    say("the submodule " + path.substr(0, kShownNameMax) +
        " is not added outside: there must be a repository at its place first, made by a call of "
        "its own");
  }
  if (changes->input.empty()) return;
  for (const std::string& object : changes->objects) {
    if (!has_host(object)) return say("the index is not published: " + missing_.at(object));
  }
  if (const std::string fault = sides_.guarded.fault_of_index(changes->input); !fault.empty()) {
    return say("the index is not published: " + fault);
  }
  if (const Status moved = sides_.publisher.move_index(host_, changes->input); !moved) {
    return say("the index is not published: " + moved.error().message);
  }
  host_.index = own_.index;
  if (!changes->left_out.empty()) {
    const auto now = sides_.publisher.index();
    host_.index = now ? *now : std::string();
  }
  agreement_.agreed.index = digest_of_index(host_.index);
  outcome_.has_changed = true;
}

void Settling::compare() {
  const auto is_outside = [&](const auto& ref) {
    const auto there = host_.refs.find(ref.first);
    return !is_published(ref.first) || (there != host_.refs.end() && there->second == ref.second);
  };
  outcome_.has_host_all = std::ranges::all_of(own_.refs, is_outside) && host_.head == own_.head &&
                          host_.index == own_.index && !waits_inside_;
}

}  // namespace pawl::git
