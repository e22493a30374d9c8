#!/usr/bin/env python3
"""Runs the official SDKs against `pawl fake-provider`. Exit code 77: skipped, and why.

They are installed with `npm ci` below the build directory, at the versions of package-lock.json.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PAWL_BINARY_DIR", HERE.parents[1] / "build/dev"))
SKIPPED = 77
INSTALL_S = 240
TEST_S = 75
TESTS = ("sdk_test.mjs", "gemini_test.mjs")
# What npm says when it cannot reach a registry.
UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
               "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def install():
    """The directory in which the SDKs are."""
    place = BUILD / "sdk"
    place.mkdir(parents=True, exist_ok=True)
    stamp = place / "installed-lock.json"
    lock = (HERE / "package-lock.json").read_bytes()
    if stamp.exists() and stamp.read_bytes() == lock:
        return place
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, place / name)
    try:
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                              cwd=place, capture_output=True, text=True, timeout=INSTALL_S,
                              check=False)
    except subprocess.TimeoutExpired:
        skip("the registry did not answer in time")
    if done.returncode != 0:
        if any(word in done.stderr for word in UNREACHABLE):
            skip("the registry cannot be reached")
        sys.exit(f"npm ci failed:\n{done.stderr}")
    stamp.write_bytes(lock)
    return place


def main():
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            skip(f"there is no {program}")
    place = install()
    for name in (*TESTS, "cases.mjs"):
        shutil.copy(HERE / name, place / name)
    server = subprocess.Popen([BUILD / "bin/pawl", "fake-provider", "--json", "--script",
                               HERE / "script.yaml"], stdout=subprocess.PIPE, text=True)
    try:
        ready = json.loads(server.stdout.readline())
        environment = {"PATH": os.environ["PATH"], "HOME": str(place), **ready["environment"]}
        codes = [subprocess.run(["node", test], cwd=place, env=environment, timeout=TEST_S,
                                check=False).returncode for test in TESTS]
    finally:
        server.terminate()
        server.wait()
    return next((code for code in (*codes, server.returncode) if code != 0), 0)


if __name__ == "__main__":
    sys.exit(main())
