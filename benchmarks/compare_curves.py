"""How long comparing two training logs of a million steps takes, and how much memory.

    python benchmarks/compare_curves.py [STEPS]

Writes two logs in Megatron's format to a temporary folder, compares them with
`manage.py compare-curves` in a fresh process, and fails above 3 s or 300 MB for a million steps.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEGABYTES = 3.0, 300.0


def write_log(path: Path, steps: int, factor: float) -> None:
    """A log whose loss falls from 10 to 2."""
    with path.open("w") as file:
        for n in range(1, steps + 1):
            loss = factor * (2 + 8 / (1 + n / 1000))
            file.write(f" iteration {n:8d}/{steps:8d} | consumed samples: {16 * n:12d} | elapsed "
                       "time per iteration (ms): 512.3 | learning rate: 1.000E-04 | global "
                       f"batch size:    16 | lm loss: {loss:.6E} | loss scale: 1.0 | "
                       "grad norm: 1.234 |\n")


def main() -> int:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        logs = [Path(folder) / name for name in ("gpu.log", "npu.log")]
        for log, factor in zip(logs, (1.0, 1.005), strict=True):
            write_log(log, steps, factor)
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "compare-curves", *map(str, logs), "--json"],
            capture_output=True, text=True, check=True)
        seconds = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    megabytes = used.ru_maxrss / 1024
    found = json.loads(done.stdout)
    processor = used.ru_utime + used.ru_stime
    print(f"{found['common_points']} common steps: {seconds:.2f} s, {processor:.2f} s of the "
          f"processor, {megabytes:.0f} MB, {found['verdict']}")
    return int(seconds > SECONDS or megabytes > MEGABYTES)


if __name__ == "__main__":
    sys.exit(main())
