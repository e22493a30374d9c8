#include "pawl/base/json_merge.h"

namespace pawl {

// As deep as the patch, which its reader has bounded.
void merge_patch(Json& target, const Json& patch) {
  const JsonObject* members = patch.if_object();
  if (members == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = JsonObject();
  JsonObject& object = target.object();
  for (const JsonMember& member : members->members()) {
    if (member.value.is_null()) {
      object.remove(member.key);
      continue;
    }
    if (!object.contains(member.key)) object.set(member.key, Json());
    merge_patch(*object.find(member.key), member.value);
  }
}

}  // namespace pawl
