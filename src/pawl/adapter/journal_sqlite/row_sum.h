// The checksum of a row. The database has none of its own: without it a flipped bit in a row that
// is read back and acted on would be a decision that nobody made. A row's sum covers its table and
// its key, so that a row in another's place does not check either.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl::sqlite {

class RowSum {
 public:
  explicit RowSum(std::string_view table) { text(table); }

  RowSum& number(std::int64_t value);
  RowSum& number(std::uint64_t value) { return number(static_cast<std::int64_t>(value)); }
  RowSum& text(std::string_view value);
  RowSum& text_or_none(const std::optional<std::string>& value);
  // The first 8 bytes of the SHA-256 of all that.
  std::int64_t finish() const;

 private:
  std::string bytes_;  // each value with its kind, and texts with their length
};

// Of a row of table journal: whose record it is, and which. Its content has a chain. Short and
// quick: there is one for every record.
std::int64_t sum_of_record(std::int64_t run, std::uint64_t seq, std::uint64_t epoch);

}  // namespace pawl::sqlite
