#include "pawl/adapter/backend/files/workspace_walk.h"

#include <algorithm>
#include <string_view>

#include "pawl/adapter/backend/files/tree_walk.h"
#include "pawl/base/path_text.h"

namespace pawl::backend {
namespace {

// As a whole path, or its last components.
bool ends_with_name(std::string_view relative, std::string_view name) {
  if (!relative.ends_with(name)) return false;
  const std::size_t front = relative.size() - name.size();
  return front == 0 || relative[front - 1] == '/';
}

class WorkspaceLook {
 public:
  explicit WorkspaceLook(const std::vector<std::string>& names) : names_(names) {}

  void look_beneath(const Place& root) {
    const WalkBounds bounds{kWalkDepthMax, kWorkspaceEntriesMax, kWorkspaceTimeMaxMs};
    const auto end =
        walk_tree(root, bounds, [&](const WalkEntry& entry) { return visit(root, entry); });
    if (!end || *end != WalkEnd::complete) found.complete = false;
  }

  WorkspaceFindings found;

 private:
  Visit visit(const Place& root, const WalkEntry& entry) {
    if (entry.name == ".git") {
      const std::string path = Roots::beneath(root, entry.relative).absolute;
      if (!add(found.repositories, path.substr(0, path.rfind('/')), kRepositoriesMax)) {
        return Visit::stop;
      }
      return Visit::pass_by;
    }
    const auto is_it = [&](const std::string& name) {
      return ends_with_name(entry.relative, name);
    };
    if (std::ranges::any_of(names_, is_it)) {
      const bool room =
          add(found.names, Roots::beneath(root, entry.relative).absolute, kFoundNamesMax);
      return room ? Visit::pass_by : Visit::stop;
    }
    return is_bulk_directory(entry.name) ? Visit::pass_by : Visit::go_on;
  }

  // A root within a root is met twice.
  static bool add(std::vector<std::string>& list, std::string path, std::size_t most) {
    if (path.empty()) path = "/";
    if (std::ranges::find(list, path) != list.end()) return true;
    if (list.size() >= most) return false;
    list.push_back(std::move(path));
    return true;
  }

  const std::vector<std::string>& names_;
};

}  // namespace

Result<WorkspaceFindings> walk_workspace(const std::vector<std::string>& write_roots,
                                         const std::vector<std::string>& names) {
  if (write_roots.empty()) return WorkspaceFindings{};
  PAWL_TRY(const Roots roots, Roots::open({write_roots.front(), write_roots, {}, {}}));
  WorkspaceLook look(names);
  for (const Place& root : roots.write_places()) look.look_beneath(root);
  std::ranges::stable_sort(look.found.repositories, {}, &std::string::size);
  return std::move(look.found);
}

}  // namespace pawl::backend
