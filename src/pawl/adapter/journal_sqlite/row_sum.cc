#include "pawl/adapter/journal_sqlite/row_sum.h"

#include "pawl/base/rng.h"
#include "pawl/ids.h"

namespace pawl::sqlite {
namespace {

void add_number(std::string& bytes, char kind, std::uint64_t value) {
  bytes += kind;
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(value >> shift);
}

}  // namespace

RowSum& RowSum::number(std::int64_t value) {
  add_number(bytes_, 'n', static_cast<std::uint64_t>(value));
  return *this;
}

RowSum& RowSum::text(std::string_view value) {
  add_number(bytes_, 't', value.size());
  bytes_ += value;
  return *this;
}

RowSum& RowSum::text_or_none(const std::optional<std::string>& value) {
  if (value) return text(std::string_view(*value));
  bytes_ += '-';
  return *this;
}

std::int64_t RowSum::finish() const {
  const Digest digest = sha256(bytes_);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 8; ++i) sum = sum << 8U | digest.bytes[i];
  return static_cast<std::int64_t>(sum);
}

std::int64_t sum_of_record(std::int64_t run, std::uint64_t seq, std::uint64_t epoch) {
  std::uint64_t sum = Rng::mixed(static_cast<std::uint64_t>(run) + 1);
  sum = Rng::mixed(sum ^ seq);
  sum = Rng::mixed(sum ^ epoch);
  return static_cast<std::int64_t>(sum >> 33U);  // four bytes of a row
}

}  // namespace pawl::sqlite
