#include "pawl/gate/approvals/remembered.h"

#include <algorithm>
#include <functional>

#include "pawl/base/files.h"
#include "pawl/base/locked_file.h"

namespace pawl {
namespace {

std::string path_in(const std::string& data) {
  return data + "/remembered.jsonl";
}

using Change = std::function<Status(std::vector<RememberedApproval>&)>;

Status change(const std::string& data, const Change& how) {
  PAWL_CHECK(make_private_directory(data));
  return change_locked_file(path_in(data), [&]() -> Result<std::string> {
    PAWL_TRY(auto all, load_remembered(data));
    PAWL_CHECK(how(all));
    std::string text;
    for (const RememberedApproval& one : all) text += remembered_line(one);
    return text;
  });
}

}  // namespace

Result<std::vector<RememberedApproval>> load_remembered(const std::string& data) {
  const auto text = read_file(path_in(data), kRememberedBytesMax);
  if (!text && text.error().code == ErrorCode::not_found) return std::vector<RememberedApproval>();
  if (!text) return text.error();
  auto all = read_remembered(*text);
  if (all) return all;
  return Error{ErrorCode::corrupt,
               path_in(data) + ": " + all.error().message +
                   "; nothing in it counts. Restore the file from a backup, or move it "
                   "away and approve again what is asked"};
}

Status remember_approval(const std::string& data, const RememberedApproval& approval) {
  return change(data, [&approval](std::vector<RememberedApproval>& all) -> Status {
    std::erase_if(all, [&](const auto& one) { return one.binding == approval.binding; });
    if (all.size() == kRememberedMax) {
      return Error{ErrorCode::limit_exceeded,
                   "at most " + std::to_string(kRememberedMax) +
                       " approvals are remembered; forget some (pawl approvals --remembered)"};
    }
    all.push_back(approval);
    return ok();
  });
}

Status forget_approval(const std::string& data, const std::string& id) {
  return change(data, [&id](std::vector<RememberedApproval>& all) -> Status {
    const auto is_it = [&id](const RememberedApproval& one) {
      return !id.empty() && to_hex(one.binding).starts_with(id);
    };
    const auto count = std::count_if(all.begin(), all.end(), is_it);
    if (count == 0) {
      return Error{ErrorCode::not_found,
                   "nothing is remembered as " + id + "; see pawl approvals --remembered"};
    }
    if (count > 1) return Error{ErrorCode::conflict, "several begin with " + id};
    std::erase_if(all, is_it);
    return ok();
  });
}

}  // namespace pawl
