#include "pawl/adapter/trust/trust_book.h"

#include <doctest/doctest.h>

namespace pawl {
namespace {

WriteSpan span_at(std::int64_t from, std::int64_t to, std::string root = "/w") {
  return {"r", {std::move(root)}, from, to};
}

}  // namespace

TEST_CASE("a book is the same after it was written and read") {
  TrustBook book;
  book.set({"/w/a.yaml", sha256("a"), 5});
  book.set({"/w/b.yaml", sha256("b"), 6, TrustedFile::State::changed, "run-1"});
  book.add(span_at(1, 9));

  const auto read = read_trust_book(to_text(book));

  REQUIRE(read);
  CHECK(*read == book);
  CHECK_FALSE(read_trust_book("{\"file\":1}\n"));
  CHECK_FALSE(read_trust_book("nonsense\n"));
  CHECK(read_trust_book("").value() == TrustBook());
}

TEST_CASE("a note of a session that lives has no end") {
  const SessionNote note{span_at(4, 0), {{"/w/a", sha256("a"), 3}}};

  const auto read = read_session_note(to_text(note));

  REQUIRE(read);
  CHECK(read->files == note.files);
  CHECK(read->span.touched({"/w/x", 1LL << 62, 0}));
  CHECK_FALSE(read->span.touched({"/w/x", 3, 0}));
  CHECK_FALSE(read_session_note(""));
}

TEST_CASE("a span covers what is beneath its roots and was changed or made in its time") {
  const WriteSpan span = span_at(10, 20);
  CHECK(span.covers("/w/a/b"));
  CHECK_FALSE(span.covers("/w-else/a"));
  CHECK(span_at(1, 2, "/").covers("/anything"));
  CHECK(span.touched({"", 10, 0}));
  CHECK(span.touched({"", 20, 0}));
  CHECK(span.touched({"", 30, 15}));
  CHECK_FALSE(span.touched({"", 21, 9}));
  CHECK_FALSE(span.touched({"", 0, 0}));
}

TEST_CASE("too many spans become fewer that cover no less") {
  TrustBook book;
  for (std::size_t i = 0; i <= kWriteSpansMax; ++i) {
    const auto at = static_cast<std::int64_t>(i * 10);
    book.add(span_at(at, at + 1, "/w" + std::to_string(i)));
  }
  CHECK(book.spans.size() == kWriteSpansMax);
  CHECK(book.spans.front().covers("/w0/x"));
  CHECK(book.spans.front().covers("/w1/x"));
  CHECK(book.spans.front().from_ns == 0);
  CHECK(book.spans.front().to_ns == 11);
}

TEST_CASE("beyond the bound the file that was trusted longest ago is forgotten") {
  TrustBook book;
  for (std::size_t i = 0; i <= kTrustedFilesMax; ++i) {
    book.set({"/w/" + std::to_string(i), sha256("x"), static_cast<std::int64_t>(i)});
  }
  CHECK(book.files.size() == kTrustedFilesMax);
  CHECK(book.find("/w/0") == nullptr);
  CHECK(book.find("/w/1") != nullptr);
  book.set({"/w/\xff", sha256("x"), 1});
  CHECK(book.find("/w/\xff") == nullptr);
}

}  // namespace pawl
