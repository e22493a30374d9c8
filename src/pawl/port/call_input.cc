#include "pawl/port/call_input.h"

namespace pawl {

CallInput take_call_input(MapReader& reader) {
  CallInput input{reader.take("input"), reader.take("raw_input")};
  if (input.map != nullptr && input.raw != nullptr) {
    reader.fault(input.raw->mark(), R"("input" and "raw_input" exclude each other)");
    return {};
  }
  if (input.map != nullptr && input.map->kind() != Node::Kind::map) {
    reader.fault(input.map->mark(), R"("input" must be a map, found )" + describe_kind(*input.map),
                 R"("raw_input" takes a string of any bytes)");
    return {};
  }
  return input;
}

}  // namespace pawl
