#!/usr/bin/env python3
"""Writes src/pawl/base/hidden_characters.cc: the characters that are not seen.

General categories Cc (C1), Cf, Co, Cn, Cs, Zl and Zp, and Default_Ignorable_Code_Point, which
covers variation selectors, tags and fillers. With --check it compares instead; another version of
Unicode than the table's may have assigned characters since.
"""
import pathlib
import re
import sys
import unicodedata

TABLE = pathlib.Path(__file__).resolve().parent.parent / "src/pawl/base/hidden_characters.cc"
CATEGORIES = {"Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
IGNORABLE = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
             (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F),
             (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
             (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]
PER_LINE = 4
TEXT = """// Unicode {version}; made by tools/hidden_characters.py, not by hand.
#include "pawl/base/hidden_characters.h"

#include <algorithm>
#include <array>

namespace pawl {{
namespace {{

struct HiddenRange {{
  char32_t first;
  char32_t last;
}};

// clang-format off
constexpr std::array<HiddenRange, {count}> kHidden = {{{{
    {lines}
}}}};
// clang-format on

}}  // namespace

bool is_hidden_character(char32_t point) {{
  const auto* const after =
      std::upper_bound(kHidden.begin(), kHidden.end(), point,
                       [](char32_t one, const HiddenRange& range) {{ return one < range.first; }});
  return after != kHidden.begin() && point <= (after - 1)->last;
}}

}}  // namespace pawl
"""


def is_hidden(point):
    category = unicodedata.category(chr(point))
    ignorable = any(first <= point <= last for first, last in IGNORABLE)
    return 0x80 <= point <= 0x9F or category in CATEGORIES or ignorable


def ranges():
    found = []
    for point in range(0x80, 0x110000):
        if not is_hidden(point):
            continue
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def table():
    items = [f"{{0x{first:X}, 0x{last:X}}}," for first, last in ranges()]
    lines = [" ".join(items[i:i + PER_LINE]) for i in range(0, len(items), PER_LINE)]
    return TEXT.format(version=unicodedata.unidata_version, count=len(items),
                       lines="\n    ".join(lines))


def check():
    text = TABLE.read_text(encoding="utf-8")
    if f"Unicode {unicodedata.unidata_version};" in text:
        return text == table()
    pairs = re.findall(r"\{0x([0-9A-F]+), 0x([0-9A-F]+)\}", text)
    points = {point for first, last in pairs for point in range(int(first, 16), int(last, 16) + 1)}
    settled = {"Co", "Cs", "Zl", "Zp"}
    return all(point in points for point in range(0x80, 0x110000)
               if unicodedata.category(chr(point)) in settled)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if check() else f"{TABLE} is not what tools/hidden_characters.py writes")
    TABLE.write_text(table(), encoding="utf-8")
