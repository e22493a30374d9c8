#include "pawl/run/agent/invocation_record.h"

#include <algorithm>
#include <array>

#include "pawl/base/utf8.h"
#include "pawl/journal/run_loader.h"

namespace pawl {
namespace {

constexpr std::string_view kSession = "/session";
constexpr std::string_view kMemory = "/memory";
constexpr std::string_view kArtifacts = "/artifacts";

std::vector<std::string> names_of(const InvocationServices& services) {
  std::vector<std::string> names;
  const auto add = [&](bool there, std::string_view kind) {
    if (there) names.push_back(services.name + std::string(kind));
  };
  add(services.session != nullptr, kSession);
  add(services.memory != nullptr, kMemory);
  add(services.artifacts != nullptr, kArtifacts);
  return names;
}

bool is_plain(const std::string& text, std::size_t bytes_max) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return text.size() <= bytes_max && is_valid_utf8(text) &&
         std::none_of(text.begin(), text.end(), is_control);
}

// Only what the run was started with: another object of the registry is not lent to it.
Result<InvocationServices> found_again(const std::vector<std::string>& names,
                                       const ServiceRegistry& registry) {
  InvocationServices services;
  for (const std::string& name : names) {
    const std::size_t slash = name.rfind('/');
    const std::string set = name.substr(0, slash);
    const std::string_view kind = std::string_view(name).substr(std::min(slash, name.size()));
    const auto found = registry.find(set);
    services.name = set;
    if (found != registry.end()) {
      if (kind == kSession) services.session = found->second.session;
      if (kind == kMemory) services.memory = found->second.memory;
      if (kind == kArtifacts) services.artifacts = found->second.artifacts;
    }
    const bool there = (kind == kSession && services.session) ||
                       (kind == kMemory && services.memory) ||
                       (kind == kArtifacts && services.artifacts);
    if (there) continue;
    return Error{ErrorCode::not_found,
                 "the run was started with the service '" + name +
                     "', which this host does not register (Ports::services)"};
  }
  return services;
}

}  // namespace

void record_invocation(const InvocationContext& context, RunStarted& event) {
  event.tenant = context.tenant();
  event.started_by = context.started_by();
  event.identity = context.identity();
  event.session_id = context.session_id();
  event.trace_parent = context.trace_parent();
  event.services = names_of(context.services());
  if (context.resource_limits()) event.limits_given = Presence::present;
}

Status check_invocation(const RunStarted& event) {
  const std::array<std::pair<std::string_view, const std::string*>, 4> texts = {{
      {"tenant", &event.tenant},
      {"identity", &event.identity},
      {"session", &event.session_id},
      {"trace parent", &event.trace_parent},
  }};
  for (const auto& [what, text] : texts) {
    if (is_plain(*text, kInvocationTextBytesMax)) continue;
    return Error{ErrorCode::invalid_argument,
                 "the " + std::string(what) + " of an invocation is text of at most " +
                     std::to_string(kInvocationTextBytesMax) + " bytes without control characters"};
  }
  for (const std::string& name : event.services) {
    if (is_plain(name, kServiceNameBytesMax)) continue;
    return Error{ErrorCode::invalid_argument, "the name of services is text of at most " +
                                                  std::to_string(kServiceNameBytesMax) +
                                                  " bytes without control characters"};
  }
  return ok();
}

Result<std::shared_ptr<const InvocationContext>> recorded_invocation(
    const RunStarted& started, const RunId& contents_of, JournalReader& reader,
    const InvocationServices* lent, const ServiceRegistry& registry) {
  InvocationContextBuilder builder;
  builder.tenant(started.tenant).identity(started.identity).started_by(started.started_by);
  builder.session_id(started.session_id).trace_parent(started.trace_parent);
  if (started.limits_given == Presence::present) builder.resource_limits(started.limits);
  for (const Variable& variable : started.variables) {
    builder.variable(variable.key, variable.value);
  }
  std::vector<PriorMessage> history;
  for (const PastMessage& message : started.history) {
    PAWL_TRY(std::string text, resolve(reader, contents_of, message.text));
    history.push_back({message.speaker, std::move(text)});
  }
  builder.history(std::move(history));
  if (lent != nullptr) {
    builder.services(*lent);
  } else if (!started.services.empty()) {
    PAWL_TRY(InvocationServices services, found_again(started.services, registry));
    builder.services(std::move(services));
  }
  return builder.build();
}

}  // namespace pawl
