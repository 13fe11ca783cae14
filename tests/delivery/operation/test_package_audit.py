"""Packages compared with advisories of a folder; databases that are not reached are said to be."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from delivery.operation import package_audit
from delivery.operation.package_audit import NPM, PYPI, Package

PACKAGES = [Package(PYPI, "some-package", "2.1"), Package(NPM, "@scope/part", "1.6.1")]


def advisory(folder: Path, name="Some.Package", ecosystem=PYPI, **affected) -> None:
    identifier = f"X-{len(list(folder.iterdir()))}"
    content = {"id": identifier, "aliases": ["CVE-1"], "summary": "Reads too far",
               "affected": [{"package": {"name": name, "ecosystem": ecosystem}, **affected}]}
    (folder / f"{identifier}.json").write_text(json.dumps(content))


def events(*pairs: tuple[str, str], kind="ECOSYSTEM") -> dict:
    return {"ranges": [{"type": kind, "events": [{what: at} for what, at in pairs]}]}


@pytest.mark.parametrize(("affected", "applies"), [
    ({"versions": ["2.0", "2.1"]}, True),
    ({"versions": ["2.0"]}, False),
    (events(("introduced", "0")), True),
    (events(("introduced", "0"), ("fixed", "2.1")), False),
    (events(("introduced", "0"), ("fixed", "2.1.1")), True),
    (events(("introduced", "0"), ("last_affected", "2.1")), True),
    (events(("introduced", "0"), ("last_affected", "2.0")), False),
    (events(("introduced", "2.2"), ("fixed", "3")), False),
    # one after the other, in any order
    (events(("fixed", "3"), ("introduced", "2.0"), ("fixed", "1.1"), ("introduced", "1.0")), True),
    (events(("introduced", "2.10"), ("introduced", "1"), ("fixed", "2.1rc1")), False),
    (events(("introduced", "0"), kind="GIT"), False),
])
def test_an_advisory_applies_by_list_or_range(tmp_path, affected, applies):
    advisory(tmp_path, **affected)
    found, count = package_audit.compare(PACKAGES, tmp_path)
    assert count == 1
    assert [(row.package, row.identifier) for row in found] == (
        [("some-package 2.1 (PyPI)", "X-0/CVE-1")] if applies else [])


def test_names_count_within_their_ecosystem(tmp_path):
    advisory(tmp_path, "@scope/part", NPM, **events(
        ("introduced", "1.0.0-beta.1"), ("fixed", "1.7.0"), kind="SEMVER"))
    advisory(tmp_path, "@scope/part", PYPI, versions=["1.6.1"])
    [found] = package_audit.compare(PACKAGES, tmp_path)[0]
    assert found.package == "@scope/part 1.6.1 (npm)"


@pytest.mark.parametrize("content", ["", "[]", '{"id": "X"}'])
def test_what_is_no_advisory_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(CommandError, match=r"x\.json is no advisory of the OSV schema"):
        call_command("audit_packages", advisories=tmp_path, language="en")


def test_the_command_compares_what_is_installed(tmp_path):
    with pytest.raises(CommandError, match="holds no advisory"):
        call_command("audit_packages", advisories=tmp_path, language="en")
    advisory(tmp_path, "Django", **events(("introduced", "0"), ("fixed", "1.0")))
    out = StringIO()
    call_command("audit_packages", advisories=tmp_path, stdout=out, language="en")
    assert out.getvalue().endswith("No vulnerability is known.\n")
    out = StringIO()
    call_command("audit_packages", advisories=tmp_path, stdout=out)
    assert out.getvalue().endswith("未发现已知漏洞。\n")
    advisory(tmp_path, "asgiref", **events(("introduced", "0")))  # needed by Django alone
    lock = json.loads((settings.BASE_DIR / "package-lock.json").read_text())["packages"]
    advisory(tmp_path, "@tabler/core", NPM, versions=[
        lock["node_modules/@tabler/core"]["version"]])
    out = StringIO()
    with pytest.raises(CommandError, match="2 vulnerabilities are known"):
        call_command("audit_packages", advisories=tmp_path, stdout=out, no_color=True,
                     language="en")
    lines = out.getvalue().splitlines()[1:]
    assert [line.split(" ")[0] for line in lines] == ["asgiref", "@tabler/core"]
    assert lines[0].endswith("(PyPI): X-1/CVE-1 Reads too far")


def test_databases_that_are_not_reached_are_no_good_news(monkeypatch, tmp_path):
    for name, text in {"npm": "#!/bin/sh\necho '{\"message\": \"405 Method Not Allowed\"}'; exit 1",
                       "python": "#!/bin/sh\necho 'ERROR: no route to host' >&2; exit 1"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    told = StringIO()
    with pytest.raises(CommandError, match=r"is not known\. Repeat where the databases"):
        call_command("audit_packages", stderr=told, no_color=True, language="en")
    assert told.getvalue().splitlines() == [
        "Not checked: pip-audit could not ask (ERROR: no route to host): no Python package was "
        "checked.",
        "Not checked: npm audit could not ask (405 Method Not Allowed): no front-end package was "
        "checked."]
