"""The evidence bundle: the same bytes every time, recomputed offline, no byte changed unseen."""

import io
import json
import re
import subprocess
import zipfile
from hashlib import sha256

import pytest
from django.core.management import CommandError, call_command
from django.utils.translation import override

from bundle_verifier import bundle_verification
from bundle_verifier.archive import (
    CHECKSUMS,
    SIGNATURE,
)
from bundle_verifier.bundle_verification import verify_bundle
from delivery.acceptance.signing.seals import practice_certificate
from delivery.evidence.services import build_bundle
from delivery.reports import services as reporting
from engagements.errors import InvalidInput, WrongState
from engagements.models import Role
from tests.delivery.evidence.bundle.conftest import (
    bundle_of,
    failures,
    failures_but_signature,
    issue,
    rewritten,
    verified,
)
from toolreaders.verdicts.verdict import ENGINE_VERSION, Outcome


def test_a_good_bundle_needs_no_database(made, certificate, django_assert_num_queries):
    out = io.StringIO()
    with django_assert_num_queries(0):
        call_command("verify", str(made), language="en", stdout=out,
                     certificate=[str(certificate)])
    assert "The bundle is good." in out.getvalue()
    assert out.getvalue().count("LLM · loss_") == 2


def test_the_same_document_gives_the_same_bytes(bundle, document, people, settings):
    """All but the signature, which says when it was made."""
    found = [entries_of(one) for one in (bundle, bundle_of(document, people))]
    assert found[0].pop(SIGNATURE)
    assert found[1].pop(SIGNATURE)
    assert found[0] == found[1]
    settings.SIGNING_KEY = ""
    assert bundle_of(document, people).sha256 == bundle_of(document, people).sha256


def entries_of(bundle) -> dict[str, bytes]:
    with bundle.file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_plain_checksum_tool_agrees(made, tmp_path):
    folder = tmp_path / "plain"
    zipfile.ZipFile(made).extractall(folder)
    done = subprocess.run(["sha256sum", "-c", "--strict", CHECKSUMS], cwd=folder,
                          capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_snapshot_file_has_the_content_hash(made):
    with zipfile.ZipFile(made) as archive:
        name = next(n for n in archive.namelist() if n.startswith("snapshots/"))
        stated = json.loads(archive.read("bundle.json"))["content_hash"]
        assert sha256(archive.read(name)).hexdigest() == stated


def test_a_changed_byte_in_any_entry_is_named(made):
    good = made.read_bytes()
    with zipfile.ZipFile(made) as archive:
        infos = [i for i in archive.infolist() if i.file_size and i.filename != CHECKSUMS]
    for info in infos:
        start = good.index(info.FileHeader()) + len(info.FileHeader())
        place = start + info.file_size // 2
        made.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1:])
        assert any(info.filename in text for text in failures(made)), info.filename


@pytest.mark.slow
def test_a_changed_byte_anywhere_fails(made):
    good = made.read_bytes()
    step = max(1, len(good) // 60)
    for place in [*range(0, len(good), step), *range(len(good) - 60, len(good))]:
        made.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1:])
        assert failures(made), place


def test_a_forged_verdict_is_recomputed(made):
    def forge(files):
        name = next(n for n in files if n.startswith("snapshots/"))
        snapshot = json.loads(files[name].read_text())
        snapshot["metrics"][2].update(outcome="passed", reason="threshold_met")
        files[name].write_text(json.dumps(snapshot))
        verdicts = json.loads(files["verdicts.json"].read_text())
        verdicts[2].update(outcome="passed", reason="threshold_met")
        files["verdicts.json"].write_text(json.dumps(verdicts))

    texts = failures_but_signature(rewritten(made, forge))
    assert any("PSR" in text for text in texts)
    assert len(texts) == 2  # the content hash, and the verdict


def test_a_forged_log_is_found(made):
    def forge(files):
        name = next(n for n in files if n.endswith("train_npu.csv"))
        files[name].write_bytes(files[name].read_bytes().replace(b"\n400,", b"\n400,9"))

    assert failures_but_signature(rewritten(made, forge))


def test_the_environments_are_a_file_of_their_own(made):
    with zipfile.ZipFile(made) as archive:
        table = json.loads(archive.read("environment.json"))
        page = archive.read("index.en.html").decode()
        snapshot = json.loads(archive.read(next(
            n for n in archive.namelist() if n.startswith("snapshots/"))))
    assert table == snapshot["tables"]["environments"]
    assert table["rows"]
    assert all(title["title"]["en"] in page for title in table["columns"])


@pytest.mark.parametrize("name", ["environment.json", "jobs.json", "definitions.json"])
def test_a_file_that_differs_from_the_frozen_facts_is_named(made, name):
    def forge(files):
        files[name].write_text(json.dumps([json.loads(files[name].read_text()), "more"]))

    assert failures_but_signature(rewritten(made, forge)) == [
        f"{name} differs from the frozen facts of the document."]


def test_missing_and_extra_files_are_named(made):
    with zipfile.ZipFile(made) as archive:
        entries = {i: archive.read(i) for i in archive.infolist()}
    for keep, extra in ((lambda n: n != "jobs.json", None), (lambda n: True, "surplus.txt")):
        with zipfile.ZipFile(made, "w") as archive:
            for info, content in entries.items():
                if keep(info.filename):
                    archive.writestr(info, content)
            if extra:
                archive.writestr(extra, "x")
        assert any((extra or "jobs.json") in text for text in failures(made))


def test_practice_data_is_marked(practised, people):
    bundle = bundle_of(issue(practised, people), people)
    assert bundle.is_practice
    with zipfile.ZipFile(bundle.file) as archive:
        assert "演练" in archive.read("PRACTICE").decode()


def test_a_damaged_raw_file_stops_the_bundle(delivered, document, people):
    artifact = delivered.artifacts.get(name="train_npu.csv")
    with open(artifact.file.path, "ab") as stream:
        stream.write(b"401,1.0\n")
    with pytest.raises(InvalidInput, match=r"train_npu\.csv"):
        bundle_of(document, people)


def test_a_draft_has_no_bundle(delivered, people):
    draft = reporting.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    with pytest.raises(WrongState):
        build_bundle(actor=people[Role.MANAGER], engagement=delivered, document=draft)


def test_who_downloads_a_bundle(bundle, people, stranger, client):
    client.force_login(stranger)
    assert client.get(f"/bundles/{bundle.pk}/").status_code == 404
    client.force_login(people[Role.REVIEWER])
    answer = client.get(f"/bundles/{bundle.pk}/")
    assert answer["Content-Type"] == "application/zip"
    assert sha256(b"".join(answer.streaming_content)).hexdigest() == bundle.sha256


# Signed documents, held back files, the index ---------------------------------------------

def test_the_seals_and_signatures_of_a_bundle_are_checked(signed_bundle, certificate):
    text = verified(signed_bundle, certificate)
    assert text.count("is valid for the whole file") == 2
    assert "practice certificate" not in text
    assert "Signature of 陈国栋" in text


def test_a_seal_that_does_not_lead_to_a_trusted_certificate_fails(
        signed_bundle, certificate, tmp_path):
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

    other = pkcs12.load_key_and_certificates(practice_certificate.make_pkcs12(
        b"x", key_bits=2048), b"x")[1]
    (tmp_path / "other.pem").write_bytes(other.public_bytes(Encoding.PEM))
    assert "issuer not checked" not in verified(signed_bundle, certificate,
                                                trust=[str(certificate)])
    with pytest.raises(CommandError):
        verified(signed_bundle, certificate, trust=[str(tmp_path / "other.pem")])


def test_a_copy_whose_seal_was_taken_off_fails(signed_bundle):
    def take_off(files):
        name = next(n for n in files if n.endswith("-signed-en.pdf"))
        content = files[name].read_bytes()
        files[name].write_bytes(content[:content.index(b"%%EOF") + 6])

    assert any("carries no readable seal" in text
               for text in failures_but_signature(rewritten(signed_bundle, take_off)))


@pytest.mark.slow
def test_a_copy_changed_under_its_seal_fails(signed_bundle):
    def change(files):
        name = next(n for n in files if n.endswith("-signed-en.pdf"))
        files[name].write_bytes(files[name].read_bytes().replace(b"595", b"594", 1))

    assert any("seal is broken" in text
               for text in failures_but_signature(rewritten(signed_bundle, change)))


def test_a_signature_moved_to_other_files_fails(signed_bundle):
    def change(files):
        facts = json.loads(files["review.json"].read_text())
        facts["signatures"][0]["files"][0]["sha256"] = "a" * 64
        files["review.json"].write_text(json.dumps(facts))

    assert any("Signature of" in text
               for text in failures_but_signature(rewritten(signed_bundle, change)))


def test_the_index_needs_nothing_but_the_bundle(made):
    with zipfile.ZipFile(made) as archive:
        names = set(archive.namelist())
        pages = [archive.read(n).decode() for n in ("index.html", "index.en.html")]
    for page in pages:
        links = set(re.findall(r'(?:href|src)="([^"]+)"', page))
        places = {link[1:] for link in links if link.startswith("#")}
        assert {"results", "files"} <= places <= set(re.findall(r'id="([^"]+)"', page))
        assert links - {f"#{place}" for place in places} <= names
        assert page.count("<svg") == 2  # the two curves
        assert "<script" not in page
        assert re.findall(r"url\((?!#|&quot;#)", page) == []
    assert "Nothing has been measured yet." in pages[1]


def test_a_verdict_of_an_older_engine_is_said_to_be_so(made, monkeypatch):
    """What stricter rules cannot prove is no forgery; the same of the present engine is wrong."""
    monkeypatch.setattr(bundle_verification, "recompute",
                        lambda *_facts: Outcome("not_provable", None, "steps_unproven"))
    assert any("recomputed Inconclusive" in text for text in failures(made))
    monkeypatch.setattr(bundle_verification, "ENGINE_CHANGES",
                        {"99": frozenset({"steps_unproven"})})
    with override("en"):
        steps = [step for step in verify_bundle(made) if "by the rules of engine" in step.text]
    assert [(step.is_good, step.is_open) for step in steps] == [(True, True)] * 2
    assert f"stated Passed by calculation engine {ENGINE_VERSION}" in steps[0].text
