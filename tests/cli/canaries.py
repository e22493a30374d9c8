"""Planted secrets, and the search for them: a thousand values in a thousand places."""

import base64
import json
import pathlib
import random
import urllib.parse

COUNT = 1000
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789/+-_"


def make(count=COUNT, seed=5):
    chance = random.Random(seed)
    return ["cnry" + "".join(chance.choice(ALPHABET) for _ in range(28)) for _ in range(count)]


def disguised(value, number):
    """One of the forms a value may come along in, by turns."""
    raw = value.encode()
    forms = (
        lambda: value,
        lambda: base64.b64encode(raw).decode(),
        lambda: base64.b64encode(b"user:" + raw).decode(),
        lambda: base64.urlsafe_b64encode(b"x" + raw + b"!").decode().rstrip("="),
        lambda: raw.hex(),
        lambda: raw.hex().upper(),
        lambda: urllib.parse.quote(value, safe=""),
        lambda: "".join(f"%{byte:02x}" for byte in raw),
        lambda: "".join(f"\\u{byte:04x}" for byte in raw),
        lambda: value.replace("/", "\\/"),
        lambda: json.dumps(json.dumps({"key": value})),
        lambda: value[:14] + "\n" + value[14:],
    )
    return forms[number % len(forms)]()


def needles(values):
    """What must be nowhere: every value, and pieces of its encodings that give it away."""
    found = {}
    for value in values:
        raw = value.encode()
        pieces = [value, raw.hex(), raw.hex().upper(), urllib.parse.quote(value, safe=""),
                  "".join(f"%{byte:02x}" for byte in raw),
                  "".join(f"\\u{byte:04x}" for byte in raw), value.replace("/", "\\/")]
        for shift in range(3):
            text = base64.b64encode(b"\0" * shift + raw).decode()
            core = text[4 if shift else 0:4 * ((shift + len(raw)) // 3)]
            pieces += [core, core.replace("+", "-").replace("/", "_")]
        for piece in pieces:
            found[piece.encode()] = value
    return found


WINDOW = 12  # shorter than every needle


def hits(data, wanted):
    """The values that stand in `data`: by the first bytes of needles, then the whole."""
    starts = {}
    for needle in wanted:
        starts.setdefault(needle[:WINDOW], []).append(needle)
    # Wrapped values are looked for without line ends, too.
    found = set()
    for text in (data, data.replace(b"\n", b"").replace(b"\r", b"")):
        for at in range(len(text) - WINDOW + 1):
            for needle in starts.get(text[at:at + WINDOW], ()):
                if text.startswith(needle, at):
                    found.add(wanted[needle])
    return found


def hits_below(directory, wanted, skip=()):
    """{path: values} of the files under a directory."""
    found = {}
    for path in sorted(pathlib.Path(directory).rglob("*")):
        if path.is_file() and path.name not in skip:
            values = hits(path.read_bytes(), wanted)
            if values:
                found[str(path)] = values
    return found
