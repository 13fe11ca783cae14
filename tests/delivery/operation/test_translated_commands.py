"""Commands of operation speak Chinese, and English where they are asked to."""

import io
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from delivery.operation.backup.keys import write_keys
from workers.artifacts.artifact_store import store_file

PASSPHRASE = "correct horse battery"


@pytest.fixture
def place(engagement, settings, tmp_path) -> Path:
    """Keys in a file, and a stored file that is gone: an upgrade goes no further than to look."""
    settings.BACKUP_PASSPHRASE, settings.CREDENTIAL_KEYS = PASSPHRASE, []
    settings.VAR_DIR = tmp_path / "var"
    settings.VAR_DIR.mkdir()
    write_keys(tmp_path / "keys", PASSPHRASE)
    stored = store_file(stream=ContentFile(b"x"), name="a.txt", engagement=engagement)
    Path(settings.MEDIA_ROOT, stored.file.name).unlink()
    return tmp_path


def shown(name: str, *words, **options) -> str:
    """All that a command writes, its error included."""
    out = io.StringIO()
    try:
        call_command(name, *words, stdout=out, stderr=out, **options)
    except CommandError as error:
        out.write(str(error))
    return out.getvalue()


@pytest.mark.parametrize(("words", "chinese", "english"), [
    (["backup", "{place}/{language}"],
     ["；不含密钥", "发现 1 处问题，其余内容均已备份。"],
     ["; without the keys", "1 fault; everything else was saved."]),
    (["backup", "{place}", "--keys", "{place}/beside"],
     ["密钥不得与数据存放在同一目录"], ["Keys and data do not lie in one folder"]),
    (["restore", "{place}"], ["中没有备份。"], ["holds no backup."]),
    (["restore_keys", "{place}/keys"], ["密钥已写入"], ["The keys are in"]),
    (["rotate_keys", "credentials"],
     ["请将以下密钥填入 DESK_CREDENTIAL_KEYS"], ["Put this key into DESK_CREDENTIAL_KEYS"]),
    (["upgrade", "--no-start", "--backups", "{place}/{language}"],
     ["数据库迁移：", "已备份到", "备份时发现问题，未作任何改动："],
     ["to apply", "0 new files", "The backup found faults, so nothing was changed:"]),
], ids=["backup", "keys beside data", "restore", "restore_keys", "rotate_keys", "upgrade"])
def test_what_a_command_says(place, words, chinese, english):
    message = shown(*[word.format(place=place, language="zh") for word in words])
    assert [text for text in chinese if text not in message] == []
    message = shown(*[word.format(place=place, language="en") for word in words], language="en")
    assert [text for text in english if text not in message] == []
