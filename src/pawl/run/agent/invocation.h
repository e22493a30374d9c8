// The circumstances of one run, as its host sees them. Tools and callbacks read it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pawl/kernel/blocks.h"
#include "pawl/kernel/limits.h"
#include "pawl/port/services.h"

namespace pawl {

// Objects that a host lends to a run. They live in the host: the journal keeps the name, and a host
// that takes the run up registers the same services under it.
struct InvocationServices {
  std::shared_ptr<SessionService> session;
  std::shared_ptr<MemoryService> memory;
  std::shared_ptr<ArtifactService> artifacts;
  std::string name = "default";
};
using ServiceRegistry = std::map<std::string, InvocationServices>;  // by name

struct PriorMessage {
  Speaker speaker = Speaker::user;
  std::string text;
};

// Immutable but for the tally, which the runner keeps up to date. Thread-safe.
class InvocationContext {
 public:
  const std::string& tenant() const { return tenant_; }
  const std::string& identity() const { return identity_; }
  // Who started the run: the identity, unless somebody started it on another's behalf.
  const std::string& started_by() const { return started_by_.empty() ? identity_ : started_by_; }
  const std::string& session_id() const { return session_id_; }
  const std::string& trace_parent() const { return trace_parent_; }
  const InvocationServices& services() const { return services_; }
  const std::optional<Limits>& resource_limits() const { return limits_; }
  const std::vector<PriorMessage>& history() const { return history_; }
  const std::map<std::string, std::string>& variables() const { return variables_; }
  OnBehalf on_behalf() const { return {tenant_, identity_, session_id_, trace_parent_}; }

  Tally tally() const {
    const std::lock_guard lock(mutex_);
    return tally_;
  }
  void update_tally(const Tally& tally) const {
    const std::lock_guard lock(mutex_);
    tally_ = tally;
  }

 private:
  friend class InvocationContextBuilder;
  InvocationContext() = default;
  // The circumstances without the tally, which is one run's.
  std::shared_ptr<InvocationContext> copy() const {
    std::shared_ptr<InvocationContext> made(new InvocationContext());
    made->tenant_ = tenant_;
    made->identity_ = identity_;
    made->started_by_ = started_by_;
    made->session_id_ = session_id_;
    made->trace_parent_ = trace_parent_;
    made->services_ = services_;
    made->limits_ = limits_;
    made->history_ = history_;
    made->variables_ = variables_;
    return made;
  }

  std::string tenant_ = "default";
  std::string identity_ = "local";
  std::string started_by_;
  std::string session_id_;
  std::string trace_parent_;
  InvocationServices services_;
  std::optional<Limits> limits_;
  std::vector<PriorMessage> history_;
  std::map<std::string, std::string> variables_;
  mutable std::mutex mutex_;
  mutable Tally tally_;
};

class InvocationContextBuilder {
 public:
  InvocationContextBuilder() : context_(new InvocationContext()) {}

  InvocationContextBuilder& tenant(std::string value) {
    context_->tenant_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& identity(std::string value) {
    context_->identity_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& started_by(std::string value) {
    context_->started_by_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& session_id(std::string value) {
    context_->session_id_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& trace_parent(std::string value) {
    context_->trace_parent_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& services(InvocationServices value) {
    context_->services_ = std::move(value);
    return *this;
  }
  // Replaces the limits of the charter.
  InvocationContextBuilder& resource_limits(const Limits& value) {
    context_->limits_ = value;
    return *this;
  }
  InvocationContextBuilder& history(std::vector<PriorMessage> value) {
    context_->history_ = std::move(value);
    return *this;
  }
  InvocationContextBuilder& variable(std::string key, std::string value) {
    context_->variables_[std::move(key)] = std::move(value);
    return *this;
  }
  // As often as wanted: each context has a tally of its own.
  std::shared_ptr<const InvocationContext> build() const { return context_->copy(); }

 private:
  std::shared_ptr<InvocationContext> context_;
};

}  // namespace pawl
