#include "pawl/surface/cli/paced_view.h"

#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

// Notes what it is shown.
struct NotingView final : RunView {
  explicit NotingView(FakeScreen& on) : screen(on) {}
  void on_event(const RunEvent& event) override {
    if (const auto* view = std::get_if<std::shared_ptr<const RecordView>>(&event)) {
      seqs.push_back((*view)->record.seq);
      screen.waiting.queued += 10;
    } else if (std::holds_alternative<Preview>(event)) {
      ++previews;
    }
  }
  void note(const std::string&) override {}
  void finish(const RecordView* last) override { finished = last != nullptr; }

  FakeScreen& screen;
  std::vector<std::uint64_t> seqs;
  int previews = 0;
  bool finished = false;
};

// A run that was driven to its end, and a view that is told of it.
struct Reader {
  Reader() {
    StartRequest request;
    request.agent = environment.agent();
    request.id = RunId{"r1"};
    const auto subscription = workspace->service().subscribe([this](const RunEvent& one) {
      if (std::holds_alternative<std::shared_ptr<const RecordView>>(one)) events.push_back(one);
    });
    bool ended = false;
    workspace->service().on_ended([&](const RunId&, const Status&) { ended = true; });
    workspace->service().start(std::move(request), [](const Result<RunId>&) {});
    environment.loop.run_until([&] { return ended; });
    workspace->service().on_ended({});
    for (std::uint64_t seq = 0; seq < events.size(); ++seq) all.push_back(seq);
    REQUIRE(events.size() > 4);
  }
  void stall() { screen().waiting.queued = screen().waiting.written + kOutputPendingMax; }
  void read_all() {
    screen().waiting.written = screen().waiting.queued;
    screen().progress();
  }
  const RecordView* last() const {
    return std::get<std::shared_ptr<const RecordView>>(events.back()).get();
  }
  FakeScreen& screen() { return environment.screen; }

  MemoryEnvironment environment;
  CliContext context{environment, {}, {}};
  std::unique_ptr<Workspace> workspace = *environment.open({}, IfAbsent::make);
  std::vector<RunEvent> events;
  std::vector<std::uint64_t> all;
  NotingView shown{environment.screen};
  PacedView paced{context, *workspace, shown};
};

bool in_no_hurry() {
  return false;
}

}  // namespace

TEST_CASE("a reader who keeps pace sees events as they come") {
  Reader reader;

  for (const RunEvent& event : reader.events) {
    reader.paced.on_event(event);
    reader.read_all();
  }
  reader.paced.on_event(Preview{});
  reader.paced.finish(reader.last(), in_no_hurry);

  CHECK(reader.shown.seqs == reader.all);
  CHECK(reader.shown.previews == 1);
  CHECK(reader.shown.finished);
  CHECK(reader.screen().err.empty());
}

TEST_CASE("a slow reader gets every record once and in order, and no previews meanwhile") {
  Reader reader;

  for (std::size_t i = 0; i < reader.events.size(); ++i) {
    if (i == 2) reader.stall();
    reader.paced.on_event(reader.events[i]);
  }
  reader.paced.on_event(Preview{});
  CHECK(reader.shown.seqs == std::vector<std::uint64_t>{0, 1});
  CHECK(reader.shown.previews == 0);

  reader.read_all();
  const auto reading = reader.environment.loop.after(1, [&reader] { reader.read_all(); });
  reader.paced.finish(reader.last(), in_no_hurry);

  CHECK(reader.shown.seqs == reader.all);
  CHECK(reader.shown.finished);
  CHECK_FALSE(reader.screen().abandoned);
}

TEST_CASE("a reader who falls behind twice still gets every record once") {
  Reader reader;

  reader.stall();
  reader.paced.on_event(reader.events[0]);
  reader.paced.on_event(reader.events[1]);
  reader.read_all();
  reader.environment.loop.run_until([&reader] { return reader.shown.seqs.size() == 2; });
  reader.read_all();
  reader.paced.on_event(reader.events[2]);
  reader.stall();
  for (std::size_t i = 3; i < reader.events.size(); ++i) reader.paced.on_event(reader.events[i]);
  reader.read_all();
  const auto reading = reader.environment.loop.after(1, [&reader] { reader.read_all(); });
  reader.paced.finish(reader.last(), in_no_hurry);

  CHECK(reader.shown.seqs == reader.all);
}

TEST_CASE("a reader who never reads is told which command shows the rest") {
  Reader reader;
  for (std::size_t i = 0; i < reader.events.size(); ++i) {
    if (i == 3) reader.stall();
    reader.paced.on_event(reader.events[i]);
    if (i == 1) reader.read_all();  // The third record is queued, and is not written.
  }

  // As a signal would.
  reader.paced.finish(reader.last(), [] { return true; });

  CHECK_FALSE(reader.shown.finished);
  CHECK(reader.screen().abandoned);
  CHECK(reader.screen().err.find("pawl logs r1 --from 2\n") != std::string::npos);
}

}  // namespace pawl
