"""The folders of a practice login: toolbox on its path, data to work on."""

import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from practice_node import data, more_data

TOOLBOX = Path(__file__).parent / "toolbox"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STAND_INS = {
    "npu-smi": "npu_smi.py", "torchrun": "torchrun.py", "practice_train": "practice_train.py",
    "pytorch_analyse.sh": "transplant_analyse.py", "pytorch_gpu2npu.sh": "transplant_gpu2npu.py",
    "atc": "atc.py", "msprobe": "msprobe_cli.py", "ais_bench": "ais_bench_cli.py",
    "msprof-analyze": "msprof_analyze.py", "aoe": "aoe.py", "benchmark": "mindie_benchmark.py",
    "msmodelslim": "msmodelslim_cli.py", "msprof": "msprof_cli.py", "vllm": "vllm_cli.py",
    "amct_onnx": "amct_onnx_cli.py", "msopgen": "msopgen_cli.py",
}
SMALL = {"nvidia-smi": "nvidia-smi", "docker": "docker", "git": "git", "pip3": "pip3",
         "converter_lite": "converter_lite",
         "practice_package": "package"}
NETWORK = {"hccn_tool": "hccn_tool", "mpirun": "mpirun", "bazel": "bazel",
           "all_reduce_test": "mpirun"}


def prepare_home(root: Path) -> dict[str, str]:
    """Lay out home, toolbox and sample data below `root`; returns the login's environment."""
    for name in ("home", "bin", "python", "tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    _install_toolbox(root)
    shutil.copytree(TOOLBOX / "projects", root / "home" / "projects", dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("__pycache__"))
    data.prepare(root / "home" / "data")
    more_data.prepare(root / "home" / "data")
    mark = root / "home" / ".practice" / "node.json"  # nothing here measures hardware
    mark.parent.mkdir(exist_ok=True)
    mark.write_text('{"practice": true}\n')
    return {
        "HOME": str(root / "home"), "USER": "practice", "LOGNAME": "practice",
        "SHELL": "/bin/sh", "LANG": "C.UTF-8", "TMPDIR": str(root / "tmp"),
        "PATH": f"{root / 'bin'}:{SYSTEM_PATH}",
        "PYTHONPATH": str(root / "python"), "PYTHONDONTWRITEBYTECODE": "1",
    }


def _install_toolbox(root: Path) -> None:
    """A small sh wrapper per stand-in, running this Python; packages go on the Python path."""
    for command, script in STAND_INS.items():
        _wrapper(root / "bin" / command, f'exec "{sys.executable}" "{TOOLBOX / script}" "$@"')
    for module, commands in (("machines.py", SMALL), ("network.py", NETWORK)):
        for command, name in commands.items():
            _wrapper(root / "bin" / command,
                     f'exec "{sys.executable}" "{TOOLBOX / module}" {name} "$@"')
    _wrapper(root / "bin" / "msrun", f'exec "{sys.executable}" '
             f'"{TOOLBOX}/python/practice_launchers/start.py" msrun "$@"')
    _wrapper(root / "bin" / "python3", f'exec "{sys.executable}" "$@"')
    genuine = genuine_msprobe()
    if genuine:  # it runs without an NPU; the stand-in of torch must not reach it
        _wrapper(root / "bin" / "msprobe", f'unset PYTHONPATH; exec "{genuine}" "$@"')
    for package in (TOOLBOX / "python").iterdir():
        if package.name.startswith("torch") and find_spec("torch"):
            continue
        shutil.copytree(package, root / "python" / package.name, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("__pycache__"))


def _wrapper(path: Path, command: str) -> None:
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def genuine_msprobe() -> str | None:
    """The tool itself, where it is installed beside Python or in the system."""
    return shutil.which("msprobe", path=f"{Path(sys.executable).parent}:{SYSTEM_PATH}")
