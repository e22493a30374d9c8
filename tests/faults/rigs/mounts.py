"""File systems of a trial's own: loop-mounted ext4 images and small tmpfs."""

import contextlib
import os
import subprocess

from .bench import Unable, need


def quietly(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False)


def make_image(path, megabytes):
    with open(path, "wb") as image:
        image.truncate(megabytes << 20)
    done = quietly(need("mkfs.ext4"), "-q", "-F", "-m", "0", path)
    if done.returncode != 0:
        raise Unable(f"no ext4 image: {done.stderr.strip()}")


@contextlib.contextmanager
def mounted(what, where, *options):
    """Mounts it for as long as the block lasts."""
    if os.geteuid() != 0:
        raise Unable("mounting needs root")
    where.mkdir(exist_ok=True)
    done = quietly(need("mount"), *options, what, where)
    if done.returncode != 0:
        raise Unable(f"no such mounts here: {done.stderr.strip()}")
    try:
        yield where
    finally:
        if quietly("umount", where).returncode != 0:
            quietly("umount", "--lazy", where)


def loop_mounted(image, where):
    return mounted(image, where, "-o", "loop")


def need_loop_mounts(bench):
    """Raises Unable where an image cannot be mounted."""
    image = bench.directory / "probe.img"
    make_image(image, 8)
    with loop_mounted(image, bench.directory / "probe"):
        pass
    image.unlink()
