"""One changed byte, wherever it lies in a bundle, is found, and the file it lies in is named."""

import json
import os
import random
import subprocess
import sys
import zipfile
from hashlib import sha256
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.utils.translation import override

from bundle_verifier.archive import write_archive
from bundle_verifier.bundle_verification import verify_bundle
from delivery.evidence.management.commands.verifier import CATALOGUE, WHEEL
from delivery.evidence.services import build_bundle
from engagements.models import Role

SEED = 20261121  # the places are many, and the same in every run
HEADER = 30  # bytes of a local header before the name (APPNOTE.TXT 4.3.7)


@pytest.fixture
def bundle(review, act, people, tmp_path, firm_key):
    """A signed acceptance with its evidence, on disk."""
    act.decide(review)
    act.sign_and_seal(review)
    made = build_bundle(actor=people[Role.MANAGER], engagement=review.document.engagement,
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
    assert {"bundle.json", "criteria.json", "review.json", "SHA256SUMS", "SHA256SUMS.p7s",
            "index.html"} <= {
        member.filename for member in members}
    for member in members:
        start = member.header_offset + HEADER + len(member.filename.encode())
        last = member.file_size - 1
        for offset in {0, last, chance.randint(0, last)}:
            output = " ".join(found(flipped(bundle, start + offset)))
            assert member.filename in output, (member.filename, offset, output)


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
def test_a_time_in_a_header_is_named_with_its_entry(bundle):
    """Nothing reads it; still it is not the archive that we made."""
    with zipfile.ZipFile(bundle) as archive:
        members, directory = archive.infolist(), archive.start_dir
    for member in members[::7]:
        output = " ".join(found(flipped(bundle, member.header_offset + 10)))
        assert member.filename in output, output
    output = " ".join(found(flipped(bundle, directory + 46 + len(members[0].filename) + 12)))
    assert members[1].filename in output, output
    bundle.write_bytes(bundle.read_bytes() + b"x")
    assert found(bundle)


@pytest.mark.slow
def test_a_byte_of_the_directory_is_named_with_its_entry(tmp_path):
    """Sign, lengths and name of each line; without them nothing can be unpacked."""
    path, good = tmp_path / "archive.zip", tmp_path / "entry"
    good.write_bytes(b"evidence")
    with path.open("wb") as stream:
        made = write_archive(stream, {f"raw/{n}.txt": good for n in range(5)})
    place = made.start_dir
    for info in made.infolist():
        for offset in (0, 1, 2, 3, 28, 30, 31, 32, 46):
            output = " ".join(found(flipped(path, place + offset)))
            assert info.filename[1:] in output, (info.filename, offset, output)
        place += 46 + len(info.filename)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("change", ["removed", "added", "renamed", "twice", "climbing"])
def test_entries_taken_out_put_in_or_renamed_are_named(bundle, change):
    with zipfile.ZipFile(bundle) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    for n in (0, len(entries) // 2, len(entries) - 1):
        name, content = entries[n][0].filename, entries[n][1]
        others = [(info.filename, data) for info, data in entries if info.filename != name]
        rows = {"removed": others, "added": [*others, (name, content), (f"{name}.more", b"x")],
                "renamed": [*others, (f"{name}.more", content)],
                "twice": [*others, (name, content), (name, content)],
                "climbing": [*others, (name, content), (f"../{name}", content)]}[change]
        target = bundle.with_name("changed.zip")
        with zipfile.ZipFile(target, "w") as archive:
            for row in rows:
                archive.writestr(*row)
        assert name in " ".join(found(target))


@pytest.mark.slow
def test_the_wheel_and_its_report_in_chinese(bundle, firm_key, tmp_path):
    """Installed by pip into a folder of its own; the terminal's language is followed."""
    wheel, folder = tmp_path / WHEEL, tmp_path / "site"
    call_command("verifier", wheel, stdout=StringIO())
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                    "--target", folder, wheel], check=True)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", folder / "bin" / "desk-verify", bundle, "--report",
         tmp_path / "report.html", "--certificate", firm_key], cwd=tmp_path, check=False,
        capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(folder), "LANG": "zh_CN.UTF-8"})
    assert done.returncode == 0, done
    report = (tmp_path / "report.html").read_text("utf-8")
    assert 'lang="zh-hans"' in report
    assert sha256(bundle.read_bytes()).hexdigest() in report
    assert "LLM · loss_mean_relative_error" in report
    if (Path(settings.BASE_DIR) / CATALOGUE).is_file():
        assert "SHA256SUMS 中的校验值全部相符" in done.stdout


@pytest.mark.slow
def test_the_single_file_finds_it_without_our_installation(bundle, firm_key, tmp_path):
    """The verifier as one file, in a folder of its own, without settings and database."""
    single = tmp_path / "verify.pyz"
    call_command("verifier", single, stdout=StringIO())
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("DJANGO", "DESK", "DATABASE", "PYTHONPATH"))}

    def run(path, *options):
        return subprocess.run([sys.executable, "-W", "ignore", single, path, *options],
                              cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)

    good = run(bundle, "--certificate", firm_key)
    assert (good.returncode, "LLM · loss_mean_relative_error" in good.stdout) == (0, True), good
    unnamed = run(bundle)
    assert (unnamed.returncode, "The owner of the certificate was not checked" in unnamed.stdout,
            "Delivery Desk" in unnamed.stdout) == (3, True, True), unnamed
    with zipfile.ZipFile(bundle) as archive:
        member = archive.getinfo("verdicts.json")
        assert json.loads(archive.read(member))
    wrong = run(flipped(bundle, member.header_offset + HEADER + len("verdicts.json") + 5))
    assert (wrong.returncode, "verdicts.json" in wrong.stdout) == (1, True), wrong
