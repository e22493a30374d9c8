#include "pawl/adapter/provider/exchange/phase_request.h"

#include <doctest/doctest.h>

#include "pawl/adapter/provider/common/kept_growth_test.h"
#include "pawl/adapter/provider/common/messages_test.h"

namespace pawl::provider {
namespace {

using Progress = PhaseRequest::Progress;

WireOptions options() {
  WireOptions made;
  made.name = "anthropic";
  made.model.id = "claude-sonnet-4-5";
  return made;
}

std::vector<Message> chat_of(std::size_t rounds, const std::string& text) {
  std::vector<Message> all;
  for (std::size_t i = 0; i < rounds; ++i) {
    all.push_back(said_by_user(text));
    all.push_back(said_by_model("anthropic/claude", {TextBlock{Content(text)}}));
  }
  all.push_back(said_by_user("and now?"));
  return all;
}

// How often it was asked to go on until the request was whole.
int slices(PhaseRequest& writing, const PhaseExecutionRequest& request) {
  int count = 1;
  while (writing.go_on(request).value() == Progress::more) ++count;
  return count;
}

struct Stage {
  explicit Stage(std::vector<Message> messages) : all(std::move(messages)) {}

  PhaseExecutionRequest request() {
    PhaseExecutionRequest made;
    made.transcript = std::make_shared<GrownTranscript>(all, all.size(), works);
    return made;
  }
  // The slices it took.
  int ask() {
    const PhaseExecutionRequest asked = request();
    PhaseRequest writing(*dialect, asked, options());
    const int count = slices(writing, asked);
    const auto wire = writing.finish(asked);
    REQUIRE(wire);
    CHECK(wire->body == dialect->encode(asked, all, options())->body);
    return count;
  }

  std::unique_ptr<Dialect> dialect = make_anthropic_dialect();
  std::vector<Message> all;
  KeptWorks works;
};

TEST_CASE(
    "a long conversation that nobody kept is written in slices, and one that is kept at once") {
  Stage stage(chat_of(200, "a word"));
  CHECK(stage.ask() == 1 + 401 / static_cast<int>(kSliceMessagesMax));
  CHECK(stage.ask() == 1);
  stage.all.push_back(said_by_model("anthropic/claude", {TextBlock{Content(std::string("so"))}}));
  stage.all.push_back(said_by_user("on"));
  CHECK(stage.ask() == 1);
  stage.works.clear();
  CHECK(stage.ask() > 1);
}

TEST_CASE("messages that are large make a slice short") {
  Stage stage(chat_of(20, std::string(kSliceBytesMax / 4, 'x')));
  CHECK(stage.ask() > 4);
}

TEST_CASE("what cannot be read is said, and nothing is kept of it") {
  class Damaged final : public Transcript {
   public:
    explicit Damaged(KeptWorks& works) : works_(works) {}
    std::size_t length() const override { return 3; }
    Result<std::vector<Message>> load(MessageRange) const override {
      return Error{ErrorCode::corrupt, "record 2 is damaged"};
    }
    void keep_work(std::string_view name, std::unique_ptr<KeptWork> work) const override {
      works_.emplace(name, std::move(work));
    }

   private:
    KeptWorks& works_;
  };
  KeptWorks works;
  PhaseExecutionRequest request;
  request.transcript = std::make_shared<Damaged>(works);
  const auto dialect = make_anthropic_dialect();
  PhaseRequest writing(*dialect, request, options());
  CHECK(writing.go_on(request).error().message == "record 2 is damaged");
  CHECK(works.empty());
}

}  // namespace
}  // namespace pawl::provider
