#include "pawl/surface/cli/live_view.h"

#include <doctest/doctest.h>

#include "pawl/surface/cli/cli_test_support.h"

namespace pawl {
namespace {

Preview preview(std::uint64_t offset, std::string text) {
  Preview preview;
  preview.offset = offset;
  preview.text = std::move(text);
  return preview;
}

// What stays on the screen when everything that is erased is gone.
std::string remains(std::string seen) {
  const std::string up = "\r\x1b[K\x1b[A";
  const std::string erase = "\r\x1b[K";
  for (std::size_t at = seen.find(erase); at != std::string::npos; at = seen.find(erase)) {
    const bool goes_up = seen.compare(at, up.size(), up) == 0;
    const std::size_t line = at == 0 ? std::string::npos : seen.rfind('\n', at - 1);
    const std::size_t from = line == std::string::npos ? 0 : line + (goes_up ? 0 : 1);
    seen.erase(from, at + (goes_up ? up : erase).size() - from);
  }
  return seen;
}

struct Screen {
  Screen() {
    environment.screen.terminal = true;
    context.settings.color = Color::never;
  }
  MemoryEnvironment environment;
  CliContext context{environment, {}, {}};
  std::unique_ptr<Workspace> workspace = *environment.open({}, IfAbsent::make);
  std::unique_ptr<RunView> view = make_live_view(context, *workspace, nullptr);
  const std::string& seen() const { return environment.screen.out; }
};

}  // namespace

TEST_CASE("the status line has step, tools, time, tokens and cost, and fits") {
  LiveStatus status;
  status.step = 2;
  status.tools = {"charge", "look"};
  status.elapsed_ms = 67'900;
  status.tokens = 123;
  status.cost = "0.01 USD";

  CHECK(status_line(status, 80) == "step 2 · charge, look · 1:07 · 123 tokens · 0.01 USD");
  CHECK(status_line(status, 8) == "step 2 ·");
}

TEST_CASE("text is shown as it comes, in whole lines above the status") {
  Screen screen;

  screen.view->on_event(preview(0, "one\ntw"));
  CHECK(remains(screen.seen()) == "  one\n  tw\nstep 0 · 0:00 · 0 tokens");
  screen.view->on_event(preview(6, "o\n"));
  screen.view->finish(nullptr);

  CHECK(remains(screen.seen()) == "  one\n  two\n");
}

TEST_CASE("a long line is broken at the width of the screen") {
  Screen screen;

  screen.view->on_event(preview(0, std::string(100, 'x')));
  screen.view->finish(nullptr);

  CHECK(remains(screen.seen()) ==
        "  " + std::string(77, 'x') + "\n  " + std::string(23, 'x') + "\n");
}

TEST_CASE("a preview cannot act on the terminal") {
  Screen screen;

  screen.view->on_event(preview(0, "a\x1b[2Jb\n"));
  screen.view->finish(nullptr);

  CHECK(remains(screen.seen()) == "  a\\x1b[2Jb\n");
}

TEST_CASE("a note goes to standard error and leaves the view whole") {
  Screen screen;

  screen.view->note("parking");

  CHECK(screen.environment.screen.err == "parking\n");
  CHECK(remains(screen.seen()) == "step 0 · 0:00 · 0 tokens");
}

}  // namespace pawl
