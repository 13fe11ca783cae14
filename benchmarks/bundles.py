"""Peak memory and time of writing and verifying a large evidence bundle.

    python -m benchmarks.bundles BUNDLE.zip [GIGABYTES]

Unpacks a good bundle, adds a raw file of so many gigabytes, writes it anew and verifies it, each
in a process of its own, beside plain `sha256sum` over the same archive. Needs about three times
that room in the temporary folder. Exit status 1 where a step needs more than 200 MB.
"""

import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT_MB, BLOCK = 200, 2**20


def write(source: Path, target: Path, gigabytes: float) -> str:
    from delivery.acceptance.archive import SUMS, digest_of, extract, write_archive

    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        files = extract(source, Path(folder))
        del files[SUMS]
        big, block = Path(folder) / "big", os.urandom(BLOCK)
        with big.open("wb") as stream:
            for n in range(int(gigabytes * 1024)):
                stream.write(n.to_bytes(8, "big") + block[8:])
        files[f"raw/{digest_of(big)[:16]}-big.bin"] = big
        with target.open("wb") as stream:
            write_archive(stream, files)
    return f"write {target.stat().st_size / 2**30:.2f} GB"


def verify(_source: Path, target: Path, _gigabytes: float) -> str:
    from delivery.acceptance.verifying import verify_bundle

    steps = list(verify_bundle(target))
    return f"verify, {sum(step.is_good for step in steps)} of {len(steps)} steps good"


def plain(_source: Path, target: Path, _gigabytes: float) -> str:
    subprocess.run(["sha256sum", target], check=True, stdout=subprocess.DEVNULL)
    return "sha256sum"


def one_step(name: str, source: Path, target: Path, gigabytes: float) -> int:
    """Run a step in this process; its exit status."""
    from django.conf import settings

    settings.configure(USE_I18N=False, USE_TZ=True)
    logging.disable()
    began = time.monotonic()
    told = STEPS[name](source, target, gigabytes)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{told}: {time.monotonic() - began:.1f} s, peak {peak:.0f} MB", flush=True)
    return int(peak > LIMIT_MB)


STEPS = {"write": write, "verify": verify, "plain": plain}


def main() -> int:
    source, gigabytes = Path(sys.argv[1]).resolve(), float((*sys.argv, 2)[2])
    if len(sys.argv) == 5:
        return one_step(sys.argv[3], source, Path(sys.argv[4]), gigabytes)
    with tempfile.TemporaryDirectory() as folder:
        return max(subprocess.run(
            [sys.executable, "-m", "benchmarks.bundles", source, str(gigabytes), name,
             Path(folder) / "large.zip"], check=False).returncode for name in STEPS)


if __name__ == "__main__":
    sys.exit(main())
