"""Bundles that name confidential raw files by their checksums and do not hold them."""

import subprocess
import zipfile

import pytest
from django.core.management import CommandError

from bundle_verifier.archive import (
    CHECKSUMS,
)
from tests.cached_fixtures import cached_fixture
from tests.delivery.evidence.bundle.conftest import bundle_of, failures, read, verified, written

pytestmark = pytest.mark.slow


@pytest.fixture
@cached_fixture
def nameless(document, people):
    """A bundle whose raw files are only named."""
    evidence = [row["id"] for row in document.snapshot["evidence"]]
    made = bundle_of(document, people, withheld=evidence)
    assert made.withheld == len(evidence)
    return made


@pytest.fixture
def held_back(delivered, nameless, tmp_path):
    """That bundle, and a folder that has the raw files."""
    folder = tmp_path / "confidential"
    folder.mkdir()
    for artifact in delivered.artifacts.all():
        with artifact.file.open("rb") as stream:
            (folder / f"{artifact.pk}.bin").write_bytes(stream.read())
    return written(tmp_path / "hashes.zip", read(nameless)), folder


def test_only_checksums_of_confidential_files_go_in(held_back):
    path, _folder = held_back
    with zipfile.ZipFile(path) as archive:
        assert [n for n in archive.namelist() if n.startswith("raw/")] == []
        # Two references with two repeats each, and the run that is judged.
        assert len(archive.read("WITHHELD").splitlines()) == 7
        assert b"loss" not in archive.read("WITHHELD")
    assert failures(path) == []


def test_what_could_not_be_recomputed_is_not_called_good(held_back, certificate):
    path, folder = held_back
    with pytest.raises(CommandError) as refused:
        verified(path, certificate)
    assert refused.value.returncode == 3
    assert "The bundle is good." in verified(path, certificate, raw=folder)


def test_a_wrong_confidential_file_does_not_pass_for_the_right_one(held_back, certificate):
    path, folder = held_back
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes() + b"1,1\n")
    with pytest.raises(CommandError) as refused:
        verified(path, certificate, raw=folder)
    assert refused.value.returncode == 3


def test_plain_checksum_tools_agree_with_bundles_of_every_kind(held_back, signed_bundle, tmp_path):
    for n, path in enumerate((held_back[0], signed_bundle)):
        folder = tmp_path / f"plain-{n}"
        zipfile.ZipFile(path).extractall(folder)
        done = subprocess.run(["sha256sum", "-c", "--strict", CHECKSUMS], cwd=folder, check=False,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
