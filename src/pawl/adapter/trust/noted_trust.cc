#include "pawl/adapter/trust/noted_trust.h"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "pawl/base/utf8.h"

namespace pawl {
namespace {

// The clock of the kernel's own time stamps on files: an earlier reading of it is never later than
// the stamp of a later write.
std::int64_t stamp_now() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Later than the stamp of everything that was written before, and before the stamp of everything
// that will be: stamps are behind the clock by a tick of the kernel's at most.
std::int64_t end_of_tick() {
  constexpr int kTicksMax = 100;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t end = now.tv_sec * 1'000'000'000 + now.tv_nsec;
  for (int i = 0; i < kTicksMax && stamp_now() <= end; ++i) ::poll(nullptr, 0, 1);
  return end;
}

// What a session has left at its end. Every known file that it could write is looked at: what was
// forgotten meanwhile is known from the note. A file that has gone is not read by anybody.
void close_span(const SessionNote& note, TrustBook& book) {
  for (const TrustedFile& noted : note.files) {
    if (book.find(noted.path) == nullptr) book.set(noted);
  }
  for (TrustedFile& known : book.files) {
    if (!note.span.covers(known.path)) continue;
    const auto now = read_host_file(known.path);
    const bool same = now ? now->digest == known.digest : now.error().code == ErrorCode::not_found;
    if (same) continue;
    known.state = TrustedFile::State::changed;
    known.run = note.span.run;
  }
  WriteSpan span = note.span;
  span.to_ns = end_of_tick();
  book.add(std::move(span));
}

}  // namespace

// The book, open for a change.
struct NotedTrust::Work {
  const TrustStore& store;
  Descriptor lock;
  TrustBook book;
  TrustBook before;  // as it is on disk
  std::vector<TrustStore::Found> live;

  // Notes of processes that were killed become spans.
  Status reap() {
    std::vector<std::string> done;
    for (const TrustStore::Found& found : live) {
      if (found.owner == TrustStore::Found::Owner::lives) continue;
      close_span(found.note, book);
      done.push_back(found.path);
    }
    if (done.empty()) return ok();
    PAWL_CHECK(save());
    for (const std::string& path : done) store.remove_live(path);
    std::erase_if(live,
                  [](const auto& one) { return one.owner == TrustStore::Found::Owner::gone; });
    return ok();
  }

  Status save() {
    if (book == before) return ok();
    PAWL_CHECK(store.save(book));
    before = book;
    return ok();
  }

  void record(const HostFile& file) {
    for (const FilePlace& place : places_of(file.path)) {
      const TrustedFile* known = book.find(place.path);
      const bool same = known != nullptr && known->digest == file.digest &&
                        known->state == TrustedFile::State::trusted;
      // A span that ended meanwhile has not changed it.
      const bool newest = same && std::ranges::none_of(book.spans, [&](const WriteSpan& span) {
                            return span.to_ns > known->at_ns;
                          });
      if (!newest) book.set({place.path, file.digest, stamp_now()});
    }
    store.keep_text(file.digest, file.text);
  }

  // Files that a person has changed since they were last read are known as they are now.
  void refresh(const WriteSpan& span) {
    std::vector<std::string> paths;
    for (const TrustedFile& file : book.files) {
      if (span.covers(file.path)) paths.push_back(file.path);
    }
    for (const std::string& path : paths) {
      const auto now = read_host_file(path);
      if (!now) continue;
      const auto found = judge(*now, nullptr);
      if (!found) {
        record(*now);
      } else if (TrustedFile* known = book.find(path)) {
        known->state = TrustedFile::State::changed;
        known->run = found->run;
      }
    }
  }

  // Nothing: it is trusted.
  std::optional<UntrustedFile> judge(const HostFile& file, const HostFile* pinned);

 private:
  UntrustedFile refused(const HostFile& file, std::string run, const Digest* trusted) const {
    UntrustedFile one{file, std::move(run)};
    if (trusted == nullptr) return one;
    one.was = UntrustedFile::Was::known;
    one.before = store.text_of(*trusted);
    return one;
  }
};

std::optional<UntrustedFile> NotedTrust::Work::judge(const HostFile& file, const HostFile* pinned) {
  const std::vector<FilePlace> places = places_of(file.path);
  const TrustedFile* known = nullptr;
  bool matched = false;
  for (const FilePlace& place : places) {
    const TrustedFile* here = book.find(place.path);
    if (here == nullptr) continue;
    known = here;
    matched = matched || here->digest == file.digest;
    if (here->state == TrustedFile::State::changed && here->digest != file.digest) {
      return refused(file, here->run, &here->digest);
    }
  }
  if (matched) return std::nullopt;
  const Digest* trusted = known == nullptr ? nullptr : &known->digest;
  for (const TrustStore::Found& found : live) {
    for (const FilePlace& place : places) {
      if (!found.note.span.covers(place.path)) continue;
      const bool noted = std::ranges::any_of(
          found.note.files, [&](const TrustedFile& one) { return one.path == place.path; });
      if (noted || found.note.span.touched(place)) {
        return refused(file, found.note.span.run, trusted);
      }
    }
  }
  for (const WriteSpan& span : book.spans) {
    for (const FilePlace& place : places) {
      const TrustedFile* here = book.find(place.path);
      const bool since = here != nullptr && here->at_ns >= span.to_ns;
      if (!since && span.covers(place.path) && span.touched(place)) {
        return refused(file, span.run, trusted);
      }
    }
  }
  const bool other = pinned != nullptr && known == nullptr && pinned->digest != file.digest;
  return other ? std::optional(refused(file, "", nullptr)) : std::nullopt;
}

Result<NotedTrust::Work> NotedTrust::open() const {
  PAWL_TRY(Descriptor lock, store_.lock());
  PAWL_TRY(TrustBook book, store_.load());
  PAWL_TRY(auto live, store_.live());
  Work work{store_, std::move(lock), book, book, std::move(live)};
  PAWL_CHECK(work.reap());
  return work;
}

Result<std::vector<UntrustedFile>> NotedTrust::untrusted(
    const std::vector<HostFile>& files, const std::vector<HostFile>& pinned) const {
  std::vector<UntrustedFile> all;
  // Where no session was ever noted, nobody but a person has changed anything.
  if (directory().empty() || (pinned.empty() && !store_.exists())) return all;
  PAWL_TRY(Work work, open());
  for (const HostFile& file : files) {
    // A journal is text: a path that is none is kept as one.
    const auto began = std::ranges::find(pinned, to_valid_utf8(file.path), &HostFile::path);
    auto found = work.judge(file, began == pinned.end() ? nullptr : &*began);
    if (found) {
      all.push_back(*std::move(found));
    } else {
      work.record(file);
    }
  }
  PAWL_CHECK(work.save());
  return all;
}

Status NotedTrust::trust(const std::vector<HostFile>& files) const {
  if (directory().empty() || files.empty()) return ok();
  PAWL_TRY(Work work, open());
  for (const HostFile& file : files) work.record(file);
  return work.save();
}

Result<UntrustedFile> NotedTrust::look_at(const std::string& path) const {
  std::error_code none;
  const std::string whole = std::filesystem::absolute(path, none).lexically_normal().string();
  PAWL_TRY(HostFile file, read_host_file(whole));
  UntrustedFile one{std::move(file), ""};
  PAWL_TRY(Work work, open());
  if (auto found = work.judge(one.now, nullptr)) return *std::move(found);
  for (const FilePlace& place : places_of(whole)) {
    const TrustedFile* known = work.book.find(place.path);
    if (known == nullptr) continue;
    one.was = UntrustedFile::Was::known;
    one.before = store_.text_of(known->digest);
  }
  return one;
}

Result<std::vector<TrustedFile>> NotedTrust::list() const {
  if (directory().empty() || !store_.exists()) return std::vector<TrustedFile>();
  PAWL_TRY(Work work, open());
  return work.book.files;
}

// Its end is noted when it goes. Where that fails the note stays, and whoever looks next takes the
// session for a killed one.
struct NotedTrust::Session {
  Session(const NotedTrust& of, LiveNote held, SessionNote said)
      : trust(of.directory()), live(std::move(held)), note(std::move(said)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    const auto lock = trust.store_.lock();
    if (!lock) return;
    auto book = trust.store_.load();
    if (!book) return;
    close_span(note, *book);
    if (trust.store_.save(*book)) trust.store_.remove_live(live.path);
  }

  NotedTrust trust;
  LiveNote live;
  SessionNote note;
};

Result<std::shared_ptr<void>> NotedTrust::begin_session(const RunId& run,
                                                        std::vector<std::string> roots) const {
  if (directory().empty() || roots.empty()) return std::shared_ptr<void>();
  SessionNote note;
  note.span.run = run.text;
  static_cast<void>(end_of_tick());  // What was written before has an earlier stamp.
  note.span.from_ns = stamp_now();
  for (const std::string& root : roots) {
    std::error_code none;
    const auto real = std::filesystem::weakly_canonical(root, none);
    std::string text = none ? root : real.string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    note.span.roots.push_back(std::move(text));
  }
  PAWL_TRY(Work work, open());
  work.refresh(note.span);
  PAWL_CHECK(work.save());
  for (const TrustedFile& file : work.book.files) {
    if (note.span.covers(file.path)) note.files.push_back(file);
  }
  PAWL_TRY(LiveNote live, store_.add_live(note));
  return std::shared_ptr<void>(std::make_shared<Session>(*this, std::move(live), std::move(note)));
}

}  // namespace pawl
