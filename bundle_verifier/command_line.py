"""`verify.pyz BUNDLE`, `python -m bundle_verifier BUNDLE`: checks bundles without an installation.

Exit status: 0 the bundle is good; 1 something is wrong; 2 wrong call; 3 nothing is wrong, but not
everything could be checked: raw files are held back, nobody signed the bundle, nobody said whose
signature it should bear, or a package is missing that a check needs.
"""

import argparse
import logging
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from bundle_verifier import translation
from bundle_verifier.bundle_verification import verify_bundle
from bundle_verifier.check_steps import CheckStep
from bundle_verifier.manifest_signature import load_trust, named_signer
from bundle_verifier.named_files import UnreadableFile
from bundle_verifier.verification_report import conclusion, status_text, write_report

LANGUAGES = {"zh": "zh-hans", "en": "en"}


def main(arguments: list[str] | None = None) -> int:
    """Check the bundles that are named, print each step. Returns the exit status."""
    options = _arguments(sys.argv[1:] if arguments is None else arguments)
    for name in ("pyhanko", "pyhanko_certvalidator"):  # what they log, the steps say better
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if options.lang == "zh":
        translation.use(translation.chinese())
    return _check(options)


def run() -> None:
    """The entry of the single file and of the wheel."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal that has no Chinese letters
    sys.exit(main())


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="verify", description="Checks an evidence bundle from its raw files. "
                                   "从原始文件重新核验证据包。")
    parser.add_argument("bundle", type=Path, nargs="+")
    parser.add_argument("--raw", type=Path,
                        help="folder with raw files that the bundle holds back · 留存文件所在目录")
    parser.add_argument("--trust", action="append", default=[], metavar="FILE",
                        help="certificate (PEM or DER) that signature and seals must lead to · "
                             "信任的证书")
    parser.add_argument("--certificate", action="append", default=[], metavar="FILE",
                        help="the firm's certificate (PEM or DER), which must have signed the "
                             "bundle · 应当签署证据包的公司证书")
    parser.add_argument("--crl", action="append", default=[], metavar="FILE",
                        help="revocation list (PEM or DER) of who issued the certificate · "
                             "证书吊销列表")
    parser.add_argument("--ocsp", action="append", default=[], metavar="FILE",
                        help="OCSP answer (DER) on the certificate · OCSP 响应")
    parser.add_argument("--report", type=Path, metavar="FILE.html",
                        help="write what was found as a page to print · 另存可打印的核验报告")
    parser.add_argument("--lang", choices=sorted(LANGUAGES), default=_language(),
                        help="language, otherwise that of the terminal · 语言")
    return parser.parse_args(arguments)


def _language() -> str:
    """zh where the terminal's locale is Chinese (POSIX: LC_ALL, LC_MESSAGES, LANG), else en."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return "zh" if next(filter(None, names), "").lower().startswith("zh") else "en"


def _check(options: argparse.Namespace) -> int:
    try:
        roots, sources = load_trust(options.trust, options.crl, options.ocsp)
        signer = named_signer(options.certificate)
    except UnreadableFile as error:
        print(error, file=sys.stderr)
        return 2
    results = [(path, _print_steps(path, verify_bundle(path, raw=options.raw, roots=roots,
                                                       signer=signer, sources=sources)))
               for path in options.bundle]
    if options.report:
        write_report(options.report, results, LANGUAGES[options.lang])
    statuses = {_status(steps) for _path, steps in results}
    return 1 if 1 in statuses else max(statuses)


def _print_steps(path: Path, steps: Iterable[CheckStep]) -> list[CheckStep]:
    """Print the steps as they come, then what follows from them."""
    printed = []
    for step in steps:
        printed.append(step)
        print(status_text(step), step.text)
    print(f"{path.name}: {conclusion(printed)}")
    return printed


def _status(steps: list[CheckStep]) -> int:
    return 1 if any(not step.is_good for step in steps) else 3 * any(
        step.is_open for step in steps)
