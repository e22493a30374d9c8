#include "pawl/adapter/egress/thread_resolver.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace pawl {
namespace {

Error unresolved(ErrorCode code, const std::string& name, const std::string& why) {
  return {code, "the name " + name + " could not be resolved: " + why};
}

// What is asked for and not answered yet. Only the loop thread looks inside.
struct Pending {
  std::string name;
  std::function<void(Resolver::Answer)> done;
  std::unique_ptr<Timer> deadline;
};
using PendingAnswers = std::map<std::uint64_t, Pending>;

void answer(PendingAnswers& pending, std::uint64_t id, Resolver::Answer answer) {
  const auto found = pending.find(id);
  if (found == pending.end()) return;
  const Pending taken = std::move(found->second);
  pending.erase(found);
  taken.done(std::move(answer));
}

// Shared with the threads, which may outlive the resolver.
class LookupThreads {
 public:
  LookupThreads(Loop& loop, ResolverOptions options, LookupFunction lookup,
                std::weak_ptr<PendingAnswers> pending)
      : loop_(loop), options_(options), lookup_(std::move(lookup)), pending_(std::move(pending)) {}

  enum class Taken : std::uint8_t { yes, queue_is_full };
  static Taken submit(const std::shared_ptr<LookupThreads>& self, std::uint64_t id,
                      std::string name) {
    const std::lock_guard lock(self->mutex_);
    if (self->waiting_.size() >= self->options_.waiting_max) return Taken::queue_is_full;
    self->waiting_.push_back({id, std::move(name)});
    if (self->idle_ < self->waiting_.size() && self->workers_.size() < self->options_.threads_max) {
      Worker& worker = self->workers_.emplace_back();
      worker.thread = std::thread([self, &worker] { self->serve(worker); });
    }
    self->wake_.notify_one();
    return Taken::yes;
  }

  void forget(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const Job& job) { return job.id == id; });
  }

  // The loop is not touched afterwards. Does not wait for a lookup.
  void close() {
    std::vector<std::thread> idle;
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      waiting_.clear();
      for (Worker& worker : workers_) {
        if (worker.state == Worker::State::looking_up) {
          worker.thread.detach();
        } else {
          idle.push_back(std::move(worker.thread));
        }
      }
    }
    wake_.notify_all();
    for (std::thread& thread : idle) thread.join();
  }

 private:
  struct Job {
    std::uint64_t id = 0;
    std::string name;
  };
  struct Worker {
    std::thread thread;
    enum class State : std::uint8_t { idle, looking_up } state = State::idle;
  };

  void serve(Worker& worker) {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      wake_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
      --idle_;
      if (closing_) return;
      const Job job = std::move(waiting_.front());
      waiting_.pop_front();
      worker.state = Worker::State::looking_up;
      lock.unlock();
      Resolver::Answer found = lookup_(job.name);
      lock.lock();
      if (closing_) return;
      worker.state = Worker::State::idle;
      // Under the lock: after close() the loop may be gone.
      loop_.post([pending = pending_, id = job.id, found = std::move(found)] {
        if (const auto answers = pending.lock()) answer(*answers, id, found);
      });
    }
  }

  Loop& loop_;
  const ResolverOptions options_;
  const LookupFunction lookup_;
  const std::weak_ptr<PendingAnswers> pending_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  std::list<Worker> workers_;
  std::size_t idle_ = 0;
  bool closing_ = false;
};

class ResolveOperation final : public Operation {
 public:
  ResolveOperation(Loop& loop, std::weak_ptr<PendingAnswers> pending,
                   std::weak_ptr<LookupThreads> threads, std::uint64_t id)
      : loop_(loop), pending_(std::move(pending)), threads_(std::move(threads)), id_(id) {}
  ~ResolveOperation() override {
    if (const auto threads = threads_.lock()) threads->forget(id_);
    if (const auto pending = pending_.lock()) pending->erase(id_);
  }
  ResolveOperation(const ResolveOperation&) = delete;
  ResolveOperation& operator=(const ResolveOperation&) = delete;

  void abort() override {
    loop_.post([pending = pending_, id = id_] {
      if (const auto answers = pending.lock()) {
        answer(*answers, id, Error{ErrorCode::cancelled, "stopped while a name was resolved"});
      }
    });
  }

 private:
  Loop& loop_;
  std::weak_ptr<PendingAnswers> pending_;
  std::weak_ptr<LookupThreads> threads_;
  const std::uint64_t id_;
};

class ThreadResolver final : public Resolver {
 public:
  ThreadResolver(Loop& loop, ResolverOptions options, LookupFunction lookup)
      : loop_(loop),
        options_(options),
        pending_(std::make_shared<PendingAnswers>()),
        threads_(std::make_shared<LookupThreads>(loop, options, std::move(lookup), pending_)) {}
  ~ThreadResolver() override { threads_->close(); }
  ThreadResolver(const ThreadResolver&) = delete;
  ThreadResolver& operator=(const ThreadResolver&) = delete;

  std::unique_ptr<Operation> resolve(const std::string& name,
                                     std::function<void(Answer)> done) override {
    const std::uint64_t id = ++last_id_;
    Pending& entry = (*pending_)[id];
    entry.name = name;
    entry.done = std::move(done);
    if (LookupThreads::submit(threads_, id, name) == LookupThreads::Taken::yes) {
      entry.deadline = end_after(options_.deadline_ms, id,
                                 unresolved(ErrorCode::unavailable, name, "no answer in time"));
    } else {
      entry.deadline =
          end_after(0, id, unresolved(ErrorCode::limit_exceeded, name, "too many names wait"));
    }
    return std::make_unique<ResolveOperation>(loop_, pending_, threads_, id);
  }

 private:
  std::unique_ptr<Timer> end_after(std::int64_t delay_ms, std::uint64_t id, Error error) {
    return loop_.after(delay_ms, [pending = std::weak_ptr(pending_),
                                  threads = std::weak_ptr(threads_), id, error = std::move(error)] {
      const auto answers = pending.lock();
      if (answers == nullptr) return;
      if (const auto lookups = threads.lock()) lookups->forget(id);
      answer(*answers, id, Error(error));
    });
  }

  Loop& loop_;
  const ResolverOptions options_;
  std::uint64_t last_id_ = 0;
  std::shared_ptr<PendingAnswers> pending_;
  std::shared_ptr<LookupThreads> threads_;
};

IpAddress address_in(const sockaddr* address) {
  IpAddress out;
  if (address->sa_family == AF_INET) {
    const auto* const v4 = reinterpret_cast<const sockaddr_in*>(address);
    std::memcpy(out.bytes.data(), &v4->sin_addr, IpAddress::kV4Bytes);
  } else {
    const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(address);
    out.family = IpAddress::Family::v6;
    std::memcpy(out.bytes.data(), &v6->sin6_addr, IpAddress::kV6Bytes);
  }
  return out;
}

}  // namespace

Resolver::Answer look_up_by_system(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* raw = nullptr;
  if (const int code = ::getaddrinfo(name.c_str(), nullptr, &hints, &raw); code != 0) {
    return unresolved(ErrorCode::unavailable, name, ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> list(raw, ::freeaddrinfo);
  std::vector<IpAddress> out;
  for (const addrinfo* at = list.get(); at != nullptr; at = at->ai_next) {
    if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
    if (out.size() == kEgressAnswersMax) {
      return unresolved(ErrorCode::limit_exceeded, name, "it has too many addresses");
    }
    out.push_back(address_in(at->ai_addr));
  }
  return out;
}

std::shared_ptr<Resolver> make_thread_resolver(Loop& loop, ResolverOptions options,
                                               LookupFunction lookup) {
  return std::make_shared<ThreadResolver>(loop, options, std::move(lookup));
}

}  // namespace pawl
