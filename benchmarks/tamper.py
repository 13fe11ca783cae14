"""Changes to an evidence bundle by somebody who mends the checksums: is any of them not found?

    python -m benchmarks.tamper [BUNDLE.zip] [--changes 1000] [--seed 1]

Each change is made to the unpacked bundle, which is packed again with a SHA256SUMS that fits and
verified as `verify` does it, until the first step that fails. Without a bundle one is made first:
a signed acceptance with its evidence, sealed and signed with a key of its own. The kinds of changes
are drawn by their weights in KINDS; those that take the signature off or make another are verified
with the firm's certificate named, as nothing in a file can tell a key from another. Exit status 1
where a change is not found, or where the bundle is not good before any change.
"""

import argparse
import json
import logging
import os
import random
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyhanko.sign import SimpleSigner

NUMBER = re.compile(rb"(?<=[:\[,\s])-?\d+(?:\.\d+)?(?:e-?\d+)?(?=[,\]}\s])")
EPSILON = re.compile(rb'(?<="epsilon": )[^,\s]+')
LETTER = re.compile(rb"[a-z]")
PASSWORD = b"tamper"


@dataclass
class Bundle:
    """An unpacked bundle: its files with their checksums, the signature, whose it is."""

    folder: Path
    files: dict[str, Path]
    digests: dict[str, str]
    signature: bytes
    forger: "SimpleSigner"  # another key, whose certificate names the firm


@dataclass
class Change:
    """New contents by name (None: taken out), and what becomes of the signature.

    `sign`: makes another one; None leaves it as it was. `unlisted`: added behind the list's back.
    """

    contents: dict[str, bytes | None]
    sign: Callable[[bytes], bytes] | None = None
    is_signed: bool = True
    unlisted: dict[str, bytes] = field(default_factory=dict)


# The changes ----------------------------------------------------------------------------

def replaced(pattern: re.Pattern, new: Callable[[bytes], bytes], suffixes: str,
             bundle: Bundle, chance: random.Random) -> Change:
    """One place that matches, in one of the files that have such places."""
    names = [name for name in sorted(bundle.files) if name.endswith(tuple(suffixes.split()))]
    for name in chance.sample(names, len(names)):
        content = bundle.files[name].read_bytes()
        if places := [*pattern.finditer(content)]:
            place = chance.choice(places)
            return Change({name: content[:place.start()] + new(place.group())
                           + content[place.end():]})
    raise ValueError(f"no file has {pattern.pattern}")


def other_number(number: bytes) -> bytes:
    """The last digit counted on by one."""
    return re.sub(rb"\d(?=\D*$)", lambda digit: b"%d" % ((int(digit.group()) + 1) % 10), number)


def byte(bundle: Bundle, chance: random.Random) -> Change:
    return flipped(chance.choice(sorted(bundle.files)), bundle, chance)


def unused_file(bundle: Bundle, chance: random.Random) -> Change:
    """A bit of a page, a text, or a raw file that no verdict names."""
    used = bundle.files["verdicts.json"].read_text("utf-8")
    return flipped(chance.choice([name for name in sorted(bundle.files)
                                  if not name.endswith(".json") and name not in used]),
                   bundle, chance)


def flipped(name: str, bundle: Bundle, chance: random.Random) -> Change:
    content = bytearray(bundle.files[name].read_bytes() or b"\0")
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return Change({name: bytes(content)})


def removed(bundle: Bundle, chance: random.Random) -> Change:
    return Change({chance.choice(sorted(bundle.files)): None})


def added(bundle: Bundle, chance: random.Random) -> Change:
    return Change({f"raw/{chance.randbytes(8).hex()}-log.txt": chance.randbytes(40)})


def added_unlisted(bundle: Bundle, chance: random.Random) -> Change:
    return Change({}, unlisted=added(bundle, chance).contents)


def renamed(bundle: Bundle, chance: random.Random) -> Change:
    name = chance.choice(sorted(bundle.files))
    return Change({name: None, f"{name}.old": bundle.files[name].read_bytes()})


def swapped(bundle: Bundle, chance: random.Random) -> Change:
    one, other = chance.sample(sorted(bundle.files), 2)
    return Change({one: bundle.files[other].read_bytes(), other: bundle.files[one].read_bytes()})


def signature_byte(bundle: Bundle, chance: random.Random) -> Change:
    """In a bundle that is otherwise as it was."""
    content = bytearray(bundle.signature)
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return Change({}, lambda _sums: bytes(content))


def signature_off(bundle: Bundle, chance: random.Random) -> Change:
    """And a number changed, as in a bundle that nobody ever signed."""
    return Change({**number(bundle, chance).contents, **stating(bundle, None)}, is_signed=False)


def signed_anew(bundle: Bundle, chance: random.Random) -> Change:
    """And a number changed: everything mended that can be without the firm's key."""
    from delivery.acceptance.signing.seals.detached_signature import sign_detached

    fingerprint = bundle.forger.signing_cert.sha256.hex()
    return Change({**number(bundle, chance).contents,
                   **stating(bundle, {"certificate": fingerprint})},
                  lambda sums: sign_detached(sums, bundle.forger))


def stating(bundle: Bundle, signature: dict | None) -> dict[str, bytes]:
    """bundle.json, saying this of the signature."""
    stated = json.loads(bundle.files["bundle.json"].read_text("utf-8"))
    return {"bundle.json": json.dumps({**stated, "signature": signature}).encode()}


number = partial(replaced, NUMBER, other_number, ".json")
letter = partial(replaced, LETTER, lambda found: b"x" if found != b"x" else b"y",
                 ".json .html .txt")
epsilon = partial(replaced, EPSILON, lambda found: b"0.5" if found == b"1" else b"1",
                  "criteria.json")

# weight, change, whether the certificate has to be named
KINDS = {
    "a number in a JSON file": (34, number, False),
    "epsilon of a signed criterion": (6, epsilon, False),
    "a letter in a text": (14, letter, False),
    "a bit of any file": (12, byte, False),
    "a bit of a file that no figure uses": (8, unused_file, False),
    "a file removed": (5, removed, False),
    "a file added": (3, added, False),
    "a file added, not listed": (2, added_unlisted, False),
    "a file renamed": (4, renamed, False),
    "two files swapped": (3, swapped, False),
    "a bit of the signature": (5, signature_byte, False),
    "the signature taken off": (2, signature_off, True),
    "signed anew with another key": (2, signed_anew, True),
}


# Packing and verifying ------------------------------------------------------------------

def packed(bundle: Bundle, change: Change, path: Path) -> None:
    """The changed bundle; unchanged files keep their checksums, which need not be computed anew."""
    from bundle_verifier.archive import write_archive

    entries = {name: place for name, place in bundle.files.items() if name not in change.contents}
    known = {name: bundle.digests[name] for name in entries}
    with tempfile.TemporaryDirectory() as folder:
        for n, (name, content) in enumerate(change.contents.items()):
            if content is not None:
                entries[name] = Path(folder, str(n))
                entries[name].write_bytes(content)
        sign = (change.sign or (lambda _sums: bundle.signature)) if change.is_signed else None
        with path.open("wb") as target:
            write_archive(target, entries, known, sign)
    with zipfile.ZipFile(path, "a") as archive:
        for name, content in change.unlisted.items():
            archive.writestr(name, content)


def is_found(path: Path, signer) -> bool:
    """Whether a step of the verification fails."""
    from bundle_verifier.bundle_verification import verify_bundle

    return any(not step.is_good for step in verify_bundle(path, signer=signer))


def run(bundle: Bundle, changes: int, chance: random.Random, named) -> int:
    """Make and verify the changes; prints a row per kind. Returns how many were not found."""
    from bundle_verifier.manifest_signature import NOBODY_NAMED

    made, missed = Counter(), Counter()
    kinds, weights = list(KINDS), [weight for weight, _change, _needs_name in KINDS.values()]
    path = bundle.folder / "changed.zip"
    for kind in chance.choices(kinds, weights, k=changes):
        _weight, change, needs_name = KINDS[kind]
        packed(bundle, change(bundle, chance), path)
        made[kind] += 1
        missed[kind] += not is_found(path, named if needs_name else NOBODY_NAMED)
    for kind in kinds:
        print(f"{kind:<38}{made[kind]:6} changes{missed[kind]:6} unnoticed")
    return missed.total()


# The bundle -----------------------------------------------------------------------------

def prepare() -> None:
    """Settings, a database and files of their own."""
    from benchmarks import report

    os.environ |= {"DESK_EMAIL_BACKEND": "django.core.mail.backends.locmem.EmailBackend"}
    report.prepare()


def sealing_key(folder: Path) -> None:
    """A key with its certificate, as a firm sets it."""
    from django.conf import settings

    from delivery.acceptance.signing.seals.practice_certificate import make_pkcs12

    path = folder / "firm.p12"
    path.write_bytes(make_pkcs12(PASSWORD, name="Firm"))
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(path), PASSWORD.decode()


def new_bundle(path: Path) -> None:
    """The evidence of an acceptance that the customer signed."""
    from delivery.evidence.services import build_bundle
    from engagements.models import Customer, Engagement, Membership, Role, User
    from tests.delivery.conftest import deliver
    from tests.delivery.review_steps import Review

    people = {role: User.objects.create_user(role, role=role, email=f"{role}@firm.example")
              for role in Role.values}
    engagement = Engagement.objects.create(
        code="BENCH", name="模型迁移", name_en="Migration",
        customer=Customer.objects.create(name="客户", name_en="Customer"))
    for user in people.values():
        Membership.objects.create(engagement=engagement, user=user, role=user.role)
    act = Review(people)
    review = act.open(deliver(engagement, people))
    act.decide(review)
    act.sign_and_seal(review)
    made = build_bundle(actor=act.manager, engagement=engagement, document=review.document)
    with made.file.open("rb") as stream, path.open("wb") as target:
        shutil.copyfileobj(stream, target)


def unpacked(path: Path, folder: Path) -> Bundle:
    from pyhanko.sign import SimpleSigner

    from bundle_verifier.archive import CHECKSUMS, SIGNATURE, extract
    from delivery.acceptance.signing.seals.practice_certificate import make_pkcs12

    members = extract(path, folder / "parts")
    del members[CHECKSUMS]
    signature = members.pop(SIGNATURE).path.read_bytes()
    stated = json.loads(members["bundle.json"].path.read_text("utf-8"))["signature"]
    forged = make_pkcs12(PASSWORD, name=stated["signer"].partition(" · ")[0])
    return Bundle(folder, {name: one.path for name, one in members.items()},
                  {name: one.sha256 for name, one in members.items()}, signature,
                  SimpleSigner.load_pkcs12_data(forged, other_certs=[], passphrase=PASSWORD))


def signer_of(path: Path):
    """The certificate that the bundle's owner would name."""
    from bundle_verifier.manifest_signature import ExpectedSigner

    with zipfile.ZipFile(path) as archive:
        stated = json.loads(archive.read("bundle.json"))["signature"]
    return ExpectedSigner(frozenset([stated["certificate"]]), "--certificate")


def benchmark(given: Path | None, folder: Path, changes: int, seed: int) -> int:
    """The exit status."""
    path = given or folder / "bundle.zip"
    if not given:
        sealing_key(folder)
        new_bundle(path)
    named = signer_of(path)
    if is_found(path, named):
        print(f"{path.name} is not good as it is")
        return 1
    bundle, begun = unpacked(path, folder), time.monotonic()
    print(f"{len(bundle.files)} files, seed {seed}")
    missed = run(bundle, changes, random.Random(seed), named)
    print(f"{changes} changes, {missed} unnoticed, {time.monotonic() - begun:.0f} s")
    return int(missed > 0)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path, nargs="?", help="a signed bundle; else one is made")
    parser.add_argument("--changes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    prepare()
    logging.disable()
    try:
        with tempfile.TemporaryDirectory() as folder:
            return benchmark(options.bundle, Path(folder), options.changes, options.seed)
    finally:
        shutil.rmtree(os.environ["DESK_VAR_DIR"], ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
