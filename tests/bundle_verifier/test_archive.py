"""Archives from strangers are refused before anything is written outside their folder."""

import io
import zipfile

import pytest
from django.core.management import CommandError, call_command

from bundle_verifier.archive import ArchiveError, extract
from bundle_verifier.bundle_verification import verify_bundle

pytestmark = pytest.mark.django_db  # `manage.py verify` asks who signed


@pytest.mark.parametrize(("names", "compressed"), [
    (["../evil"], False), (["/etc/passwd"], False), (["a/../../b"], False), (["a\\b"], False),
    (["same", "same"], False), (["Same", "same"], False), (["bomb"], True)])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_hostile_archives_are_refused(tmp_path, names, compressed):
    path = tmp_path / "hostile.zip"
    kind = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name in names:
            archive.writestr(name, b"0" * 100_000)
    with pytest.raises(ArchiveError):
        extract(path, tmp_path / "out")
    assert not (tmp_path / "evil").exists()
    with pytest.raises(CommandError):
        call_command("verify", str(path), stdout=io.StringIO())


def test_no_zip_at_all(tmp_path):
    path = tmp_path / "not.zip"
    path.write_bytes(b"no zip")
    assert not all(step.is_good for step in verify_bundle(path))
