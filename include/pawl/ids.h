// What things are called: runs, instances, calls and effects by number, bytes by digest.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kRunIdBytesMax = 64;

// Time-ordered when Pawl makes it; a host may bring its own.
struct RunId {
  std::string text;

  friend auto operator<=>(const RunId&, const RunId&) = default;
};

// Letters, digits, '-', '_' and '.', starting with a letter or digit.
Result<RunId> parse_run_id(std::string_view text);

enum class InstanceId : std::uint32_t {};  // i1 is the root
enum class CallId : std::uint64_t {};      // c1, c2, …: one tool call each
enum class EffectId : std::uint64_t {};    // e1, e2, …: one attempt at something outside each

inline constexpr InstanceId kRootInstance{1};

std::string to_string(InstanceId id);
std::string to_string(CallId id);
std::string to_string(EffectId id);
// "c7", or "7".
Result<CallId> parse_call_id(std::string_view text);
// "i2", or "2".
Result<InstanceId> parse_instance_id(std::string_view text);

// --- SHA-256, the one hash of Pawl: chain links, content addresses, call keys.

struct Digest {
  std::array<std::uint8_t, 32> bytes{};

  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  friend auto operator<=>(const Digest&, const Digest&) = default;
};

Digest sha256(std::string_view bytes);

// The digest of several pieces as if they were one string.
class Sha256 {
 public:
  Sha256();
  Sha256& add(std::string_view bytes);
  Digest finish();

 private:
  // OpenSSL's, which is not everybody's to see.
  alignas(std::uint64_t) std::array<std::byte, 112> context_;
};

std::string to_hex(const Digest& digest);
Result<Digest> digest_from_hex(std::string_view text);
// The digest whose 32 bytes are `raw`; any other length is an error.
Result<Digest> digest_from_raw(std::string_view raw);

}  // namespace pawl
