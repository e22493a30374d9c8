// Paths as text: absolute, without "." and "..", and without a slash at the end.
#pragma once

#include <string_view>

namespace pawl {

// The same, or beneath it.
inline bool is_within(std::string_view path, std::string_view root) {
  if (root == "/") return path.starts_with('/');
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

inline bool is_beneath(std::string_view path, std::string_view root) {
  return path != root && is_within(path, root);
}

}  // namespace pawl
