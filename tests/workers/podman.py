"""Podman as the tests use it: one image of busybox, made here, since no registry is reached."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAM = "podman --runtime runc --cgroup-manager=cgroupfs --storage-driver=vfs"
RUN_OPTIONS = "--ulimit nofile=1024:1024 --ulimit nproc=1000:1000"
IMAGE = "localhost/desk-test"


def engine_in(folder: Path) -> str:
    """An engine whose images and containers lie below a folder, those that run below `run`."""
    return f"{PROGRAM} --root {folder}/storage --runroot {folder}/run --tmpdir {folder}/run/libpod"


# A store of the tests' own: a podman that was called without these options before decides
# otherwise how the machine's is laid out, for good.
ENGINE = engine_in(Path(tempfile.gettempdir(), "desk-test-podman"))


def missing() -> str:
    """Why containers cannot run here; empty where they can."""
    lacking = [name for name in ("podman", "runc", "busybox") if not shutil.which(name)]
    if lacking:
        return f"needs {', '.join(lacking)} (packages podman, runc, busybox-static)"
    return "" if os.getuid() == 0 else "needs root"


def podman(*words: str, engine: str = ENGINE, **more) -> str:
    """What podman prints. Raises CalledProcessError."""
    return subprocess.run([*engine.split(), *words], check=True, capture_output=True, text=True,
                          **more).stdout


def make_image(engine: str = ENGINE, user: str = "root") -> str:
    """The image by its digest; it is made once per machine, or for an engine with its own store."""
    image = f"{IMAGE}-{user}"
    try:
        podman("image", "exists", image, engine=engine)
    except subprocess.CalledProcessError:
        _import(engine, image, user)
    [digest] = podman("image", "inspect", "--format", "{{join .RepoDigests \",\"}}",
                      image, engine=engine).strip().split(",")[:1]
    return digest


def _import(engine: str, image: str, user: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        for folder in ("bin", "proc", "tmp", "dev", "etc", "root"):
            (root / folder).mkdir()
            (root / folder).chmod(0o755)  # whatever the umask
        shutil.copy(shutil.which("busybox"), root / "bin/busybox")
        for applet in subprocess.run(["busybox", "--list"], capture_output=True, text=True,
                                     check=True).stdout.split():
            if applet != "busybox":
                (root / "bin" / applet).symlink_to("busybox")
        (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
        (root / "bin/bash").write_text('#!/bin/sh\nexec /bin/sh "$@"\n')
        (root / "bin/bash").chmod(0o755)
        (root / "etc/os-release").write_text('PRETTY_NAME="Desk OS 1"\nID=desk\n')
        (root / "etc/version").write_text("busybox image\n")
        with subprocess.Popen(["tar", "-C", name, "-c", "."], stdout=subprocess.PIPE) as packed:
            podman("import", "-q", "--change", "ENV PATH=/bin", "--change", "LABEL stack=CANN-8.2",
                   "--change", f"USER {user}", "-", image, engine=engine, stdin=packed.stdout)
