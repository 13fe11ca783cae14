"""`verify` as a program of its own: no database, no installation, one file (`manage.py verifier`).

Exit status: 0 the bundle is good; 1 something is wrong; 2 wrong call; 3 nothing is wrong, but raw
files are held back, so that not everything could be checked.
"""

import argparse
import logging
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Check the bundles that are named, print each step. Returns the exit status."""
    from django.conf import settings

    if not settings.configured:
        settings.configure(USE_I18N=False, USE_TZ=True)
    given = _parser().parse_args(arguments)
    for name in ("pyhanko", "pyhanko_certvalidator"):  # what they log, the steps say better
        logging.getLogger(name).setLevel(logging.CRITICAL)
    from delivery.acceptance.seals.certificate import trust_roots
    from delivery.acceptance.verifying import verify_bundle
    from engagements.errors import DeskError

    try:
        roots = trust_roots(given.trust) if given.trust else []
    except DeskError as error:
        print(error.message, file=sys.stderr)
        return 2
    return max(_told(path, verify_bundle(path, raw=given.raw, roots=roots))
               for path in given.bundle)


def run() -> None:
    """The entry of the single file."""
    sys.exit(main())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="verify", description="Checks an evidence bundle from its raw files.")
    parser.add_argument("bundle", type=Path, nargs="+")
    parser.add_argument("--raw", type=Path,
                        help="folder with raw files that the bundle holds back")
    parser.add_argument("--trust", action="append", default=[], metavar="FILE",
                        help="certificate (PEM or DER) that seals must lead to")
    return parser


def _told(path: Path, steps) -> int:
    failed = left_open = 0
    for step in steps:
        failed += not step.is_good
        left_open += step.is_open
        print("open" if step.is_open else "  ok" if step.is_good else "FAIL", step.text)
    verdict = "NOT good" if failed else "good as far as it goes" if left_open else "good"
    print(f"{path.name}: {verdict} ({failed} failed, {left_open} open)")
    return 1 if failed else 3 if left_open else 0
