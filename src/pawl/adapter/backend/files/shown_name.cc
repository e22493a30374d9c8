#include "pawl/adapter/backend/files/shown_name.h"

#include <array>
#include <cstdio>

#include "pawl/base/utf8.h"

namespace pawl::backend {
namespace {

struct Span {
  char32_t first;
  char32_t last;
};

// Controls, and the format characters (category Cf) that reorder or hide what stands around them.
constexpr std::array<Span, 13> kNotShown = {{{0x00, 0x1f},
                                             {0x7f, 0x9f},
                                             {0xad, 0xad},
                                             {0x600, 0x605},
                                             {0x61c, 0x61c},
                                             {0x180e, 0x180e},
                                             {0x200b, 0x200f},
                                             {0x2028, 0x202e},
                                             {0x2060, 0x206f},
                                             {0xfeff, 0xfeff},
                                             {0xfff9, 0xfffb},
                                             {0xe0000, 0xe007f},
                                             {0x1d173, 0x1d17a}}};

bool is_shown(char32_t code_point) {
  for (const Span& span : kNotShown) {
    if (code_point >= span.first && code_point <= span.last) return false;
  }
  return true;
}

void append_escape(std::string& out, const char* format, unsigned value) {
  std::array<char, 16> text{};
  const int length = std::snprintf(text.data(), text.size(), format, value);
  out.append(text.data(), static_cast<std::size_t>(length));
}

void append_escaped(std::string& out, char32_t code_point) {
  if (code_point == '\n') {
    out += "\\n";
  } else if (code_point == '\t') {
    out += "\\t";
  } else if (code_point < 0x100) {
    append_escape(out, "\\x%02x", static_cast<unsigned>(code_point));
  } else {
    append_escape(out, "\\u%04x", static_cast<unsigned>(code_point));
  }
}

}  // namespace

std::string shown_name(std::string_view name) {
  std::string out;
  while (!name.empty()) {
    const Utf8Step step = first_utf8(name);
    if (!step.valid) {
      for (const char byte : name.substr(0, step.bytes)) {
        append_escape(out, "\\x%02x", static_cast<unsigned char>(byte));
      }
    } else if (is_shown(step.code_point)) {
      out += name.substr(0, step.bytes);
    } else {
      append_escaped(out, step.code_point);
    }
    name.remove_prefix(step.bytes);
  }
  return out;
}

std::string_view cut_utf8(std::string_view valid, std::size_t bytes_max) {
  if (valid.size() <= bytes_max) return valid;
  std::size_t keep = bytes_max;
  while (keep > 0 && (static_cast<unsigned char>(valid[keep]) & 0xC0U) == 0x80U) --keep;
  return valid.substr(0, keep);
}

}  // namespace pawl::backend
