#include "pawl/adapter/journal_sqlite/row_sum.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace pawl::sqlite {
namespace {

std::int64_t sum_of(const std::string& table, std::int64_t key, const std::string& body) {
  return RowSum(table).number(key).text(body).finish();
}

}  // namespace

TEST_CASE("a row's sum changes with its table, its key and every bit of its values") {
  const std::string body = "happened";
  std::set<std::int64_t> sums = {sum_of("inbox", 1, body), sum_of("runs", 1, body)};
  for (unsigned bit = 0; bit < 64; ++bit) {
    sums.insert(sum_of("inbox", static_cast<std::int64_t>(1ULL ^ (1ULL << bit)), body));
  }
  for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
    std::string flipped = body;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    sums.insert(sum_of("inbox", 1, flipped));
  }
  CHECK(sums.size() == 2 + 64 + body.size() * 8);
}

TEST_CASE("where one value ends and the next begins is part of a row's sum") {
  CHECK(RowSum("t").text("ab").text("c").finish() != RowSum("t").text("a").text("bc").finish());
  CHECK(RowSum("t").text_or_none(std::optional<std::string>()).finish() !=
        RowSum("t").text_or_none(std::optional<std::string>("")).finish());
}

}  // namespace pawl::sqlite
