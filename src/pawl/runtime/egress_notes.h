// What the egress guard decided while a call ran, as a member of the call's result, and so of the
// journal. The driver alone writes it: a tool's own result that has the name is made to say
// another, so that whoever reads the journal knows who wrote it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "pawl/base/json.h"

namespace pawl {

inline constexpr std::string_view kEgressMember = "pawl_egress";

// `content`, which a tool wrote, with `notes` (a JSON list; empty: there are none) as a member of
// the JSON object that it is or becomes. Without them where it would be longer than `bytes_max`.
std::string with_egress_notes(std::string content, std::string_view notes, std::size_t bytes_max);

// The notes of a recorded result. Empty: it has none.
std::optional<JsonArray> egress_notes_of(std::string_view content);

}  // namespace pawl
