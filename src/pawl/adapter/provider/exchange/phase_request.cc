#include "pawl/adapter/provider/exchange/phase_request.h"

#include <algorithm>
#include <utility>

namespace pawl::provider {
namespace {

// Read at a time: how large messages are is known when they are there.
constexpr std::size_t kBatchMessages = 8;

}  // namespace

PhaseRequest::PhaseRequest(const Dialect& dialect, const PhaseExecutionRequest& request,
                           WireOptions options)
    : dialect_(dialect),
      options_(std::move(options)),
      first_(first_message(request, options_)),
      length_(request.transcript ? request.transcript->length() : 0),
      name_(options_.name + "/" + options_.model.id) {}

Result<PhaseRequest::Progress> PhaseRequest::go_on(const PhaseExecutionRequest& request) {
  if (!turns_) PAWL_CHECK(begin(request));
  const std::size_t end = std::min(length_, turns_->taken() + kSliceMessagesMax);
  for (std::size_t bytes = 0; turns_->taken() < end && bytes < kSliceBytesMax;) {
    const std::size_t count = std::min(kBatchMessages, end - turns_->taken());
    PAWL_TRY(std::vector<Message> messages, request.transcript->load({turns_->taken(), count}));
    if (messages.size() != count) {
      return Error{ErrorCode::unavailable, "the conversation ends before its end"};
    }
    for (const Message& message : messages) bytes += bytes_of(message);
    PAWL_CHECK(turns_->take(std::move(messages)));
  }
  if (turns_->taken() < length_) return Progress::more;
  if (turns_->begins_with(first_)) return Progress::whole;
  // A session that knows less than what is written already: it is told from there on.
  PAWL_CHECK(begin_anew());
  return length_ > 0 ? go_on(request) : Progress::whole;
}

Status PhaseRequest::begin(const PhaseExecutionRequest& request) {
  auto kept = request.transcript ? request.transcript->take_work(name_) : nullptr;
  if (auto* const turns = dynamic_cast<KeptTurns*>(kept.get())) {
    if (turns->suits(options_) && turns->taken() <= length_) {
      kept.release();  // NOLINT(bugprone-unused-return-value): the next line owns it
      turns_.reset(turns);
      return ok();
    }
  }
  return begin_anew();
}

Status PhaseRequest::begin_anew() {
  PAWL_TRY(turns_, make_kept_turns(dialect_, options_, first_));
  return ok();
}

Result<WireRequest> PhaseRequest::finish(const PhaseExecutionRequest& request) {
  PAWL_CHECK(turns_->compose(request, first_));
  PAWL_TRY(WireRequest wire, dialect_.encode(request, *turns_, options_));
  if (request.transcript) request.transcript->keep_work(name_, std::move(turns_));
  return wire;
}

}  // namespace pawl::provider
