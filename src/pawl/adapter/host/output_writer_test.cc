#include "pawl/adapter/host/output_writer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <future>

#include "pawl/base/descriptor.h"

namespace pawl {
namespace {

constexpr std::size_t kPendingMax = std::size_t{1} << 20U;
constexpr std::int64_t kPatienceMs = 10'000;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    reading.reset(ends[0]);
    writing.reset(ends[1]);
  }
  // Reads `count` bytes, however slowly they come.
  std::string read(std::size_t count) const {
    std::string text(count, '\0');
    std::size_t had = 0;
    while (had < count) {
      const ssize_t got = ::read(reading.number(), text.data() + had, count - had);
      if (got <= 0) break;
      had += static_cast<std::size_t>(got);
    }
    return text.substr(0, had);
  }

  int fd() const { return writing.number(); }

  Descriptor reading;
  Descriptor writing;
};

}  // namespace

TEST_CASE("a reader who does not read holds up nobody, and loses nothing that was queued") {
  Pipe pipe;
  OutputWriter writer;
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += "line " + std::to_string(i) + "\n";

  CHECK(writer.put(pipe.fd(), text, kPendingMax) == OutputWriter::Put::queued);
  CHECK_FALSE(writer.flush(1));
  CHECK(writer.backlog().pending() > 0);

  CHECK(pipe.read(text.size()) == text);
  CHECK(writer.flush(kPatienceMs));
}

TEST_CASE("a queue takes no more than it may hold") {
  const Pipe pipe;
  OutputWriter writer;

  CHECK(writer.put(pipe.fd(), std::string(kPendingMax, 'x'), kPendingMax) ==
        OutputWriter::Put::queued);
  CHECK(writer.put(pipe.fd(), std::string(kPendingMax, 'y'), kPendingMax) ==
        OutputWriter::Put::dropped);

  // Nobody waits for a reader who was given up.
  writer.abandon();
  CHECK_FALSE(writer.flush(kPatienceMs));
  CHECK(writer.put(pipe.fd(), "z", kPendingMax) == OutputWriter::Put::dropped);
}

TEST_CASE("a reader who has gone ends the writing, and waits for nothing") {
  Pipe pipe;
  pipe.reading.reset();
  OutputWriter writer;

  writer.put(pipe.fd(), std::string(200'000, 'x'), kPendingMax);

  CHECK(writer.flush(kPatienceMs));
  CHECK(writer.fault(pipe.fd()) == EPIPE);
}

TEST_CASE("progress is told to who asked for the backlog") {
  Pipe pipe;
  OutputWriter writer;
  std::promise<void> told;
  writer.on_progress([&told, first = true]() mutable {
    if (std::exchange(first, false)) told.set_value();
  });
  writer.put(pipe.fd(), std::string(200'000, 'x'), kPendingMax);
  CHECK(writer.backlog().pending() > 0);

  pipe.read(200'000);
  told.get_future().wait();
  writer.on_progress({});

  CHECK(writer.backlog().written > 0);
}

}  // namespace pawl
