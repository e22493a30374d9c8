#include "pawl/adapter/egress/guard.h"

#include <algorithm>
#include <array>
#include <utility>

#include "pawl/adapter/egress/address_class.h"

namespace pawl {
namespace {

using egress::AddressClass;

std::string shown(const EgressTarget& target) {
  Url url;
  url.scheme = "https";
  url.host = target.host;
  url.port = target.port;
  return url.authority();
}

// Names that no public server has. Asking for them tells the local network what is looked for.
bool is_local_name(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kLocal = {"localhost",   "local",     "internal",
                                                             "localdomain", "home.arpa", "onion"};
  return std::any_of(kLocal.begin(), kLocal.end(), [&](std::string_view suffix) {
    return name == suffix || (name.size() > suffix.size() && name.ends_with(suffix) &&
                              name[name.size() - suffix.size() - 1] == '.');
  });
}

// What is decided about a target, without asking anybody.
class Judge {
 public:
  explicit Judge(EgressPolicy policy) : policy_(std::move(policy)) {}

  Status check_host(const EgressTarget& target) const {
    const EgressRule* const rule = policy_.rule_for(target.host, target.port);
    if (rule == nullptr) return refused(target, "it is not on the list");
    const bool by_name = rule->match == EgressRule::Match::exact;
    if (!target.host.address && !by_name && is_local_name(target.host.text)) {
      return refused(target, "it is a name of the local network");
    }
    return ok();
  }

  EgressGuard::Answer check_addresses(const EgressTarget& target,
                                      std::vector<IpAddress> addresses) const {
    if (addresses.empty()) return refused(target, "the name has no address");
    if (addresses.size() > kEgressAnswersMax) return refused(target, "it has too many addresses");
    for (const IpAddress& address : addresses) {
      const AddressClass found = egress::classify(address);
      if (found.kind == AddressClass::Kind::global) continue;
      if (policy_.allows_private(address, target.port)) continue;
      const std::string which = target.host.address ? "it" : "its address " + to_text(address);
      return refused(target, which + " is not of the public Internet: " + found.what);
    }
    return VettedTarget{target.host, target.port, std::move(addresses)};
  }

 private:
  Error refused(const EgressTarget& target, const std::string& why) const {
    return {ErrorCode::invalid_argument, "connection to " + shown(target) + " refused: " + why +
                                             "; " + describe(policy_) +
                                             ". Use another URL; do not try again with this one"};
  }

  const EgressPolicy policy_;
};

// One vet() on its way. Its Operation and what it waits for share it.
class Vetting : public std::enable_shared_from_this<Vetting> {
 public:
  Vetting(std::shared_ptr<const Judge> judge, EgressTarget target, EgressSink sink,
          std::function<void(EgressGuard::Answer)> done)
      : judge_(std::move(judge)),
        target_(std::move(target)),
        sink_(std::move(sink)),
        done_(std::move(done)) {}

  void begin(Loop& loop, Resolver& resolver) {
    if (const Status listed = judge_->check_host(target_); !listed) {
      return tell_later(loop, listed.error());
    }
    if (target_.host.address) {
      return tell_later(loop, judge_->check_addresses(target_, {*target_.host.address}));
    }
    lookup_ =
        resolver.resolve(target_.host.text, [weak = weak_from_this()](Resolver::Answer answer) {
          if (const auto self = weak.lock()) self->on_resolved(answer);
        });
  }

  void tell_later(Loop& loop, EgressGuard::Answer answer) {
    loop.post([weak = weak_from_this(), answer = std::move(answer)] {
      if (const auto self = weak.lock()) self->tell(answer);
    });
  }

  void silence() {
    done_ = {};
    lookup_.reset();
  }

 private:
  void on_resolved(Resolver::Answer& answer) {
    if (!answer) return tell(std::move(answer).error());
    tell(judge_->check_addresses(target_, *std::move(answer)));
  }

  void tell(EgressGuard::Answer answer) {
    if (!done_) return;
    if (sink_) sink_(event_of(answer));
    std::exchange(done_, {})(std::move(answer));
  }

  EgressEvent event_of(const EgressGuard::Answer& answer) const {
    EgressEvent event;
    event.target = shown(target_);
    event.client = target_.client;
    if (answer) {
      event.verdict = EgressEvent::Verdict::allowed;
      for (const IpAddress& address : answer->addresses) {
        event.detail += (event.detail.empty() ? "" : " ") + to_text(address);
      }
      return event;
    }
    event.verdict = answer.error().code == ErrorCode::invalid_argument
                        ? EgressEvent::Verdict::refused
                        : EgressEvent::Verdict::unresolved;
    event.detail = answer.error().message;
    return event;
  }

  const std::shared_ptr<const Judge> judge_;
  const EgressTarget target_;
  const EgressSink sink_;
  std::function<void(EgressGuard::Answer)> done_;
  std::unique_ptr<Operation> lookup_;
};

class VettingOperation final : public Operation {
 public:
  VettingOperation(Loop& loop, std::shared_ptr<Vetting> vetting)
      : loop_(loop), vetting_(std::move(vetting)) {}
  ~VettingOperation() override { vetting_->silence(); }
  VettingOperation(const VettingOperation&) = delete;
  VettingOperation& operator=(const VettingOperation&) = delete;

  void abort() override {
    vetting_->tell_later(loop_, Error{ErrorCode::cancelled, "stopped before it was vetted"});
  }

 private:
  Loop& loop_;
  std::shared_ptr<Vetting> vetting_;
};

class Guard final : public EgressGuard {
 public:
  Guard(Loop& loop, std::shared_ptr<Resolver> resolver, EgressPolicy policy, EgressSink sink)
      : loop_(loop),
        resolver_(std::move(resolver)),
        judge_(std::make_shared<const Judge>(std::move(policy))),
        sink_(std::move(sink)) {}

  std::unique_ptr<Operation> vet(EgressTarget target, std::function<void(Answer)> done) override {
    auto vetting = std::make_shared<Vetting>(judge_, std::move(target), sink_, std::move(done));
    vetting->begin(loop_, *resolver_);
    return std::make_unique<VettingOperation>(loop_, std::move(vetting));
  }

 private:
  Loop& loop_;
  const std::shared_ptr<Resolver> resolver_;
  const std::shared_ptr<const Judge> judge_;
  const EgressSink sink_;
};

}  // namespace

std::shared_ptr<EgressGuard> make_egress_guard(Loop& loop, std::shared_ptr<Resolver> resolver,
                                               EgressPolicy policy, EgressSink sink) {
  return std::make_shared<Guard>(loop, std::move(resolver), std::move(policy), std::move(sink));
}

}  // namespace pawl
