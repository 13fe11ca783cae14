"""The folders of a practice login: toolbox on its path, data to work on."""

import shutil
import sys
from pathlib import Path

from workers.practice_node import data

TOOLBOX = Path(__file__).parent / "toolbox"


def prepare_home(root: Path) -> dict[str, str]:
    """Lay out home, toolbox and sample data below `root`; returns the login's environment."""
    for name in ("home", "bin", "python", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    _install_toolbox(root)
    data.prepare(root / "home" / "data")
    return {
        "HOME": str(root / "home"), "USER": "practice", "LOGNAME": "practice",
        "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TMPDIR": str(root / "tmp"),
        "PATH": f"{root / 'bin'}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PYTHONPATH": str(root / "python"), "PYTHONDONTWRITEBYTECODE": "1",
    }


def _install_toolbox(root: Path) -> None:
    """A small sh wrapper per stand-in, running this Python; packages go on the Python path."""
    names = {
        "npu-smi": "npu_smi.py", "practice_train": "practice_train.py",
        "pytorch_analyse.sh": "transplant_analyse.py",
        "pytorch_gpu2npu.sh": "transplant_gpu2npu.py", "torchrun": "torchrun.py",
        "atc": "atc.py", "msprobe": "msprobe_cli.py", "ais_bench": "ais_bench_cli.py",
    }
    for command, script in names.items():
        if command == "msprobe" and shutil.which("msprobe"):
            continue  # the genuine tool is there and runs without an NPU
        wrapper = root / "bin" / command
        wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{TOOLBOX / script}" "$@"\n')
        wrapper.chmod(0o755)
    python = root / "bin" / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    shutil.copytree(TOOLBOX / "python", root / "python", dirs_exist_ok=True)
