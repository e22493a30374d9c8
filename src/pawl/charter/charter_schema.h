// A JSON Schema (2020-12) of charters, for editors. It says less than the reader: that a name leads
// somewhere, that a state fits, that phases have an order, only the reader knows.
#pragma once

#include <string_view>

namespace pawl {

std::string_view charter_schema_text();

}  // namespace pawl
