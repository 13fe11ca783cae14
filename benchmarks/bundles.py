"""Peak memory and time of writing and checking a large evidence bundle.

    python benchmarks/bundles.py BUNDLE.zip [GIGABYTES]

Unpacks a good bundle, adds a raw file of so many gigabytes, writes it anew and verifies it, each
in a process of its own. Needs about three times that room in the temporary folder.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
BLOCK = 2**20


def measured(step) -> None:
    began = time.monotonic()
    told = step()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{told}: {time.monotonic() - began:.1f} s, peak {peak:.0f} MB")


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


def check(path: Path) -> str:
    from delivery.acceptance.verifying import verify_bundle

    steps = list(verify_bundle(path))
    return f"verify {sum(step.is_good for step in steps)} of {len(steps)} steps good"


def main() -> None:
    source = Path(sys.argv[1]).resolve()
    gigabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 2
    if len(sys.argv) > 3:  # the child: one step
        from django.conf import settings

        sys.path.insert(0, str(BASE))
        settings.configure(USE_I18N=False, USE_TZ=True)
        target = Path(sys.argv[4])
        measured((lambda: write(source, target, gigabytes)) if sys.argv[3] == "write"
                 else (lambda: check(target)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for step in ("write", "verify"):
            subprocess.run([sys.executable, "-W", "ignore", __file__, source, str(gigabytes), step,
                            Path(folder) / "large.zip"], check=True, cwd=BASE)


if __name__ == "__main__":
    main()
