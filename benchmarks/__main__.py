"""Runs the benchmarks one after the other and writes what they printed to docs/benchmarks.md.

    DATABASE_URL=postgresql://… python -m benchmarks [NAME …] [--out docs/benchmarks.md]

They need `pip install -r requirements-dev.txt`; `fleet` and `load` need the PostgreSQL database
that DATABASE_URL names: an empty one is filled, one that `fleet` has filled is measured again. A
name alone runs that one and keeps the others' last figures in the file. Each part holds goal and
competitor (from the benchmark itself), the command, version, cores and load of the machine, how
long it took, and its exit status. Exit status 1 if any did not reach its goal or could not run.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import time
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs" / "benchmarks.md"
# In the order in which they run; with what makes them short enough for one evening.
OPTIONS: dict[str, tuple[str, ...]] = {
    "audit_log": ("--entries", "20000", "--archived", "100000"), "pages": (),
    "compare_curves": (), "operators": (),
    "hostile_files": (), "scan_agreement": (), "tamper": (), "bundles": (), "transfers": (),
    "report": (), "live_log": (), "large_log": (), "dispatch": (), "supervision": (),
    "fleet": ("--rounds", "3"), "load": ("--held", "--seconds", "20"),
}
NAMES = tuple(OPTIONS)
HEAD = """# Benchmarks

Written by `python -m benchmarks`; each part is as it was printed on the day it names. Beside each
stands the load of the machine: where it is above the number of cores, other work shared the
machine; times by the clock say little then, those of the processor more."""
NEEDS_SERVER = {"fleet", "load"}
PART = re.compile(r"^## (\w+)\n", re.M)


def goal_of(name: str) -> str:
    """The benchmark's own words on what it measures, beside whom, and what it must reach."""
    place = ROOT / "benchmarks" / name
    file = place / "__main__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.get_docstring(ast.parse(file.read_text())) or ""


def run(name: str) -> tuple[str, bool]:
    """The part of the page, and whether the goal was reached."""
    if name in NEEDS_SERVER and "postgres" not in os.environ.get("DATABASE_URL", ""):
        return _part(name, "Not run: DATABASE_URL names no PostgreSQL database.", "–", 0), False
    load, began = os.getloadavg()[0], time.monotonic()
    done = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *OPTIONS[name]], cwd=ROOT,
                          text=True, capture_output=True, check=False)
    printed = done.stdout.strip()
    if done.returncode and not printed:
        printed = "\n".join(done.stderr.strip().splitlines()[-3:])
    return (_part(name, printed, f"{load:.1f} → {os.getloadavg()[0]:.1f}",
                  time.monotonic() - began, done.returncode), done.returncode == 0)


def _part(name: str, printed: str, load: str, seconds: float, status: int | None = None) -> str:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    said = {None: "not run", 0: "goal reached"}.get(status, f"goal not reached (status {status})")
    command = " ".join(["python -m", f"benchmarks.{name}", *OPTIONS[name]])
    machine = f"{os.cpu_count()} cores, load {load}, nice {os.nice(0)}"
    return (f"## {name}\n\n{goal_of(name)}\n\n`{command}` · version {version} · "
            f"{datetime.now(UTC):%Y-%m-%d} · {machine} · {seconds:.0f} s · **{said}**\n\n"
            f"```\n{printed}\n```\n")


def parts_of(text: str) -> dict[str, str]:
    """The parts of the page as it is, by name."""
    found = PART.split(text)[1:]
    return {name: f"## {name}\n{body}" for name, body in zip(found[::2], found[1::2], strict=True)}


def page(parts: dict[str, str]) -> str:
    ordered = [parts[name].strip() for name in NAMES if name in parts]
    return "\n\n".join([HEAD, *ordered]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], default=[])
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    parts = parts_of(options.out.read_text()) if options.out.exists() else {}
    missed = []
    for name in options.names or NAMES:
        parts[name], is_good = run(name)
        options.out.write_text(page(parts))
        print(f"{name}: {'goal reached' if is_good else 'NOT reached'}", flush=True)
        missed += [] if is_good else [name]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
