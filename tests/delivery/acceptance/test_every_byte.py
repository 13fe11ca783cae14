"""One changed byte, wherever it lies in a bundle, is found, and the file it lies in is named."""

import json
import os
import random
import subprocess
import sys
import zipfile
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils.translation import override

from delivery.acceptance import services
from delivery.acceptance.verifying import verify_bundle
from engagements.models import Role

SEED = 20261121  # the places are many, and the same in every run
HEADER = 30  # bytes of a local header before the name (APPNOTE.TXT 4.3.7)


@pytest.fixture
def bundle(review, act, people, tmp_path):
    """A signed acceptance with its evidence, on disk."""
    act.decide(review)
    act.sign(review)
    made = services.build_bundle(actor=people[Role.MANAGER], engagement=review.document.engagement,
                                 document=review.document)
    path = tmp_path / "bundle.zip"
    with made.file.open("rb") as stream:
        path.write_bytes(stream.read())
    return path


def found(path) -> list[str]:
    with override("en"):
        return [step.text for step in verify_bundle(path) if not step.is_good]


def flipped(path, place: int):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    changed = path.with_name("changed.zip")
    changed.write_bytes(content)
    return changed


@pytest.mark.slow
def test_in_every_member_at_both_ends_and_in_between(bundle):
    chance = random.Random(SEED)
    with zipfile.ZipFile(bundle) as archive:
        members = archive.infolist()
    assert {"bundle.json", "criteria.json", "review.json", "SHA256SUMS", "index.html"} <= {
        member.filename for member in members}
    for member in members:
        start = member.header_offset + HEADER + len(member.filename.encode())
        last = member.file_size - 1
        for offset in {0, last, chance.randint(0, last)}:
            told = " ".join(found(flipped(bundle, start + offset)))
            assert member.filename in told, (member.filename, offset, told)


@pytest.mark.slow
def test_in_the_archive_s_own_headers_too(bundle):
    """Names, sizes, times: what is no file's content."""
    chance = random.Random(SEED)
    content = bundle.read_bytes()
    with zipfile.ZipFile(bundle) as archive:
        headers = [member.header_offset + n for member in archive.infolist()
                   for n in range(HEADER)]
        directory = range(archive.start_dir, len(content))
    for place in chance.sample(headers, 30) + chance.sample(directory, 60):
        assert found(flipped(bundle, place)), place


@pytest.mark.slow
def test_the_single_file_finds_it_without_our_installation(bundle, tmp_path):
    """The verifier as one file, in a folder of its own, without settings and database."""
    single = tmp_path / "verify.pyz"
    call_command("verifier", single, stdout=StringIO())
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("DJANGO", "DESK", "DATABASE", "PYTHONPATH"))}

    def run(path):
        return subprocess.run([sys.executable, "-W", "ignore", single, path], cwd=tmp_path,
                              env=clean, capture_output=True, text=True, check=False)

    good = run(bundle)
    assert (good.returncode, "LLM · loss_mean_relative_error" in good.stdout) == (0, True), good
    with zipfile.ZipFile(bundle) as archive:
        member = archive.getinfo("verdicts.json")
        assert json.loads(archive.read(member))
    wrong = run(flipped(bundle, member.header_offset + HEADER + len("verdicts.json") + 5))
    assert (wrong.returncode, "verdicts.json" in wrong.stdout) == (1, True), wrong
