"""Peak memory and time of writing and verifying large evidence bundles.

    python -m benchmarks.bundles BUNDLE.zip [GIGABYTES …]

For each size (1, 2 and 4 by default) a good bundle is unpacked and gets a raw file of so many
gigabytes; it is written anew and verified, each in a process of its own, beside plain
`sha256sum` over the same archive. Needs about twice the largest size in the temporary folder.
Exit status 1 where a step needs more than 200 MB, where the largest size needs 30 MB
more than the smallest, or where a step takes the processor more than six times `sha256sum`.
"""

import argparse
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

LIMIT_MB, GROWTH_MB, MOST_TIMES = 200, 30, 6
BLOCK, PARTS = 2**20, "parts"


def prepare(source: Path, folder: Path, gigabytes: float) -> None:
    """The files of the larger bundle, unsigned; the large one under its checksum."""
    from bundle_verifier.archive import CHECKSUMS, SIGNATURE, extract, sha256_of

    extract(source, folder / PARTS)
    (folder / PARTS / CHECKSUMS).unlink()
    (folder / PARTS / SIGNATURE).unlink(missing_ok=True)
    statement = folder / PARTS / "bundle.json"
    statement.write_text(json.dumps({**json.loads(statement.read_text("utf-8")),
                                     "signature": None}))
    big, block = folder / "big", os.urandom(BLOCK)
    with big.open("wb") as stream:
        for n in range(int(gigabytes * 1024)):
            stream.write(n.to_bytes(8, "big") + block[8:])
    big.rename(folder / PARTS / "raw" / f"{sha256_of(big)}-big.bin")


def write(folder: Path) -> str:
    """As a bundle is written: the checksums of raw files are known, and checked on the way."""
    from bundle_verifier.archive import write_archive

    entries = {str(path.relative_to(folder / PARTS)): path
               for path in (folder / PARTS).rglob("*") if path.is_file()}
    known = {name: path.name[:64] for name, path in entries.items() if name.endswith("-big.bin")}
    with (folder / "large.zip").open("wb") as stream:
        write_archive(stream, entries, known)
    return "write"


def verify(folder: Path) -> str:
    from bundle_verifier.bundle_verification import verify_bundle

    steps = list(verify_bundle(folder / "large.zip"))
    return f"verify {sum(step.is_good for step in steps)}/{len(steps)} good"


def plain(folder: Path) -> str:
    subprocess.run(["sha256sum", folder / "large.zip"], check=True, stdout=subprocess.DEVNULL)
    return "sha256sum"


STEPS = {"plain": plain, "write": write, "verify": verify}


def one_step(name: str, folder: Path) -> None:
    """Run a step in this process; prints what it did, seconds, those of the processor, MB."""
    from django.conf import settings

    settings.configure(USE_I18N=False, USE_TZ=True)
    logging.disable()
    began, before = time.monotonic(), processor()
    output = STEPS[name](folder)
    peak = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    print(output, time.monotonic() - began, processor() - before, peak, sep="\t")


def processor() -> float:
    """Seconds of the processor that this process and its children took."""
    return sum(u.ru_utime + u.ru_stime for u in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))


def measured(name: str, folder: Path) -> tuple[str, float, float, float]:
    answer = subprocess.run([sys.executable, "-m", "benchmarks.bundles", "--step", name, folder],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    output, *figures = answer.strip().split("\t")
    return (output, *map(float, figures))


def one_size(source: Path, gigabytes: float) -> tuple[dict[str, float], float]:
    """Prints a row per step. Returns the peaks, and the worst ratio to `sha256sum`."""
    peaks, works = {}, {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(source, folder, gigabytes)
        for step in ("write", "plain", "verify"):
            output, seconds, works[step], peaks[step] = measured(step, folder)
            print(f"{gigabytes:4g} GB  {output:<22}{seconds:8.1f} s {works[step]:8.1f} s cpu "
                  f"{peaks[step]:6.0f} MB", flush=True)
            if step == "write":
                shutil.rmtree(folder / PARTS)
    return peaks, max(works["write"], works["verify"]) / works["plain"]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("gigabytes", type=float, nargs="*", default=[1, 2, 4])
    return parser.parse_args()


def main() -> int:
    if sys.argv[1:2] == ["--step"]:
        one_step(sys.argv[2], Path(sys.argv[3]))
        return 0
    given = arguments()
    found = [one_size(given.bundle.resolve(), size) for size in sorted(given.gigabytes)]
    peaks = [max(peak.values()) for peak, _ratio in found]
    worst = max(ratio for _peak, ratio in found)
    print(f"peak {peaks[0]:.0f} MB at the smallest size, {peaks[-1]:.0f} MB at the largest; "
          f"at most {worst:.1f} times the processor time of sha256sum")
    return int(max(peaks) > LIMIT_MB or peaks[-1] - peaks[0] > GROWTH_MB or worst > MOST_TIMES)


if __name__ == "__main__":
    sys.exit(main())
