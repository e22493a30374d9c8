// The processors that come with Pawl. All take linear time: their expressions are RE2's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pawl/filter/processors/processor.h"

namespace pawl {

enum class OnFinding : std::uint8_t { mask, block };

// What looks like a key, a token, a private key or a password in an address.
std::shared_ptr<const Processor> make_secret_scan(OnFinding action);

// Personal data that has a form. Card numbers and IBANs must have the right check digits; phone
// numbers begin with + or have brackets or separators; social security numbers are as in the USA.
enum class PiiKind : std::uint8_t { email, phone, iban, card, ssn };
inline constexpr std::size_t kPiiKinds = 5;
std::string_view name(PiiKind kind);
// Masked: "[email]". An empty list: all kinds.
std::shared_ptr<const Processor> make_pii(OnFinding action, std::vector<PiiKind> kinds);

enum class OnTooLong : std::uint8_t { block, cut };
std::shared_ptr<const Processor> make_size_bound(std::size_t bytes_max, OnTooLong action);

// Says of tool output that it is somebody else's, and which well-known phrases of injections it
// has. A label for the model and for people who read; no defence: whoever writes such text can
// avoid the phrases.
enum class FrameWhen : std::uint8_t { marked, always };
std::shared_ptr<const Processor> make_injection_frame(FrameWhen when);

}  // namespace pawl
