#include "pawl/filter/secrets/known_secrets.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "pawl/filter/secrets/handle_text.h"
#include "pawl/filter/secrets/secret_forms.h"

namespace pawl {
namespace {

constexpr std::size_t kDistinctBytesMin = 4;
constexpr std::size_t kLineDistinctMin = 8;

// Values of examples and of careless set-ups that are long enough, and words besides.
constexpr std::array<std::string_view, 24> kCommon = {
    "password",  "password1", "changeme",     "changeit",     "letmein1",  "testtest",
    "test1234",  "12345678",  "123456789",    "secret12",     "secret123", "undefined",
    "username",  "anonymous", "localhost",    "disabled",     "required",  "development",
    "something", "your-key",  "your_api_key", "api_key_here", "function",  "deadbeef"};

std::size_t distinct_bytes(std::string_view value) {
  std::bitset<256> seen;
  for (const char c : value) seen.set(static_cast<unsigned char>(c));
  return seen.count();
}

bool is_common(std::string_view value) {
  std::string lower(value);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (std::find(kCommon.begin(), kCommon.end(), lower) != kCommon.end()) return true;
  return distinct_bytes(value) < kDistinctBytesMin;
}

}  // namespace

std::string_view advice_on(Learned learned) {
  switch (learned) {
    case Learned::added:
    case Learned::known:
      return "";
    case Learned::too_short:
      return "it is too short to be told from other text, so it is not taken out of logs and "
             "replies: use a value of 8 characters or more";
    case Learned::too_common:
      return "it is a common word, so it is not taken out of logs and replies: use a value that "
             "nobody would guess";
    case Learned::too_long:
      return "it is too long to be looked for in logs and replies: use one of at most 16 KiB";
    case Learned::full:
      return "too many secret values were seen by this process, so it is not taken out of logs and "
             "replies: start the process again";
  }
  return "";
}

KnownSecrets::KnownSecrets() = default;

Learned KnownSecrets::add(std::string_view name, const std::string& value) {
  if (value.size() < kSecretFormBytesMin) return Learned::too_short;
  if (value.size() > kLearnedSecretBytesMax) return Learned::too_long;
  if (is_common(value)) return Learned::too_common;
  const std::lock_guard lock(mutex_);
  const auto is_same = [&value](const Entry& entry) { return entry.value == value; };
  if (std::any_of(entries_.begin(), entries_.end(), is_same)) return Learned::known;
  if (entries_.size() == kLearnedSecretsMax || bytes_ + value.size() > kLearnedBytesMax) {
    return Learned::full;
  }
  entries_.push_back({handle_name(name), value});
  bytes_ += value.size();
  snapshot_.reset();
  count_.store(entries_.size(), std::memory_order_release);
  return Learned::added;
}

// Tools put numbers and signs before lines: each line of a key is a secret of its own, unless it is
// short, plain or the frame that every key has. Within the frame of a PEM key nothing is plain, and
// its last line is seldom as long as the others. Line ends may be written as "\\n".
std::vector<std::string> KnownSecrets::lines_of(std::string_view value) {
  std::vector<std::string> lines;
  std::size_t bytes_min = kSecretLineBytesMin;
  std::size_t distinct_min = kLineDistinctMin;
  while (!value.empty()) {
    const std::size_t end = std::min({value.find('\n'), value.find("\\n"), value.size()});
    std::string_view line = value.substr(0, end);
    value.remove_prefix(end == value.size() ? end : end + (value[end] == '\n' ? 1 : 2));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    while (!line.empty() && (line.front() == '\t' || line.front() == ' ')) line.remove_prefix(1);
    if (line.starts_with("-----")) {
      const bool begins = line.starts_with("-----BEGIN ");
      bytes_min = begins ? kSecretFormBytesMin : kSecretLineBytesMin;
      distinct_min = begins ? kDistinctBytesMin : kLineDistinctMin;
    } else if (line.size() >= bytes_min && distinct_bytes(line) >= distinct_min) {
      lines.emplace_back(line);
    }
  }
  return lines;
}

std::vector<std::string> KnownSecrets::pieces_of(std::string_view value) {
  std::vector<std::string> pieces;
  if (value.find("-----BEGIN ") == std::string_view::npos) return pieces;
  const std::vector<std::string> lines = lines_of(value);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    if (line.size() <= kKeyPieceBytes) continue;
    for (std::size_t at = 0; at + kKeyPieceBytes <= line.size(); at += kKeyPieceStep) {
      const std::string_view piece = line.substr(at, kKeyPieceBytes);
      if (distinct_bytes(piece) >= kLineDistinctMin) pieces.emplace_back(piece);
    }
  }
  return pieces;
}

std::shared_ptr<const KnownSecrets::Snapshot> KnownSecrets::snapshot() const {
  const std::lock_guard lock(mutex_);
  if (snapshot_) return snapshot_;
  std::vector<Pattern> patterns;
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    const auto id = static_cast<std::uint32_t>(names.size());
    names.push_back(entry.name);
    for (std::string& form : secret_forms(entry.value)) patterns.push_back({std::move(form), id});
    const std::vector<std::string> lines = lines_of(entry.value);
    if (lines.size() < 2 && lines == std::vector{entry.value}) continue;
    for (const std::string& line : lines) {
      for (std::string& form : secret_forms(line)) patterns.push_back({std::move(form), id});
    }
    for (std::string& piece : pieces_of(entry.value)) patterns.push_back({std::move(piece), id});
  }
  snapshot_ = std::make_shared<const Snapshot>(
      Snapshot{PatternAutomaton(std::move(patterns)), std::move(names)});
  return snapshot_;
}

}  // namespace pawl
