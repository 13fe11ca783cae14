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
from bundle_verifier.canonical import content_hash
from bundle_verifier.log_extract import FILE
from delivery.acceptance.signing.seals import practice_certificate
from delivery.evidence.bundle.bundle_writer import write_bundle
from delivery.evidence.services import build_bundle
from delivery.reports import services as reporting
from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry, Role, StageRecord
from engagements.services.stage_comments import comment_on_stage
from tests.delivery.evidence.bundle.conftest import (
    bundle_of,
    failures,
    failures_but_signature,
    issue,
    read,
    rewritten,
    verified,
    written,
)
from toolreaders.verdicts.verdict import ENGINE_VERSION, Outcome

pytestmark = pytest.mark.slow


def test_a_good_bundle_needs_no_database(made, certificate, django_assert_num_queries):
    out = io.StringIO()
    with django_assert_num_queries(0):
        call_command("verify", str(made), language="en", stdout=out,
                     certificate=[str(certificate)])
    assert "The bundle is good." in out.getvalue()
    assert out.getvalue().count("LLM · loss_") == 4  # verdicts, runs


def test_the_same_document_gives_the_same_bytes(bundle, document, people, settings):
    """All but the signature, which says when it was made, and the log, which goes on meanwhile."""
    found = [entries_of(one) for one in (bundle, bundle_of(document, people))]
    assert found[0].pop(SIGNATURE)
    assert found[1].pop(SIGNATURE)
    first, second = (one.pop(FILE).splitlines()[1:-1] for one in found)
    assert second[:len(first)] == first
    assert [json.loads(line)["action"] for line in second[len(first):]] == ["bundle.build"]
    assert found[0].pop(CHECKSUMS) != found[1].pop(CHECKSUMS)
    assert found[0] == found[1]
    settings.SIGNING_KEY = ""
    assert write_bundle(document).sha256 == write_bundle(document).sha256


def test_it_holds_the_engagement_s_whole_log_without_prices_and_notes(document, people, tmp_path):
    comment_on_stage(actor=people[Role.MANAGER], record=StageRecord.objects.first(), text="x")
    bundle = bundle_of(document, people)
    rows = [json.loads(line) for line in entries_of(bundle)[FILE].splitlines()][1:-1]
    numbers = list(AuditEntry.objects.filter(
        engagement=document.engagement, pk__lte=rows[-1]["number"]).order_by("pk").values_list(
        "pk", flat=True))
    assert [row["number"] for row in rows] == numbers
    [note] = [row for row in rows if row["action"] == "stage.comment"]
    assert note.keys() == {"number", "at", "action", "hash", "is_withheld"}
    [issued] = [row for row in rows if row["action"] == "document.issue"]
    assert issued["rows"]["reports.document"]
    path = written(tmp_path / "bundle.zip", read(bundle))
    with override("en"):
        assert [step.is_good for step in verify_bundle(path) if "recomputed and" in step.text
                ] == [True]

    def changed(files):
        text = files[FILE].read_text("utf-8")
        files[FILE].write_text(text.replace('"document.issue"', '"document.draft"'), "utf-8")

    [found] = failures_but_signature(rewritten(path, changed))
    assert found == f"Entry {issued['number']} of the log: its hash is another."


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


def test_an_outsider_reads_every_run_and_who_accepted_what(made):
    with zipfile.ZipFile(made) as archive:
        [llm, *_others] = json.loads(archive.read("runs.json"))
        accepted = json.loads(archive.read("accepted.json"))
        [node] = json.loads(archive.read("nodes.json"))
    assert [(run["standing"], run["text"]) for run in llm["runs"]] == [
        ("judged", "0.400 %"), ("unsuccessful", "–"), ("unsuccessful", "–")]
    assert (node["node"], node["facts"]["cann"], node["cards"]) == (
        "bms-01", "8.0.RC2", [*range(8)])
    assert {(row["number"], row["item"]) for row in accepted} == {
        (case, item) for case in ("TC-01", "TC-02") for item in ("driver", "os")}
    assert all(row["by"]["en"] and row["at"] and row["reason"] for row in accepted)
    with override("en"):
        assert any("LLM" in step.text and "3 runs listed, the agreed rule holds" in step.text
                   for step in verify_bundle(made))


def test_a_certificate_comes_with_the_report_that_it_cites(document, act, people, tmp_path):
    certificate = act.open(document.engagement).document
    path = written(tmp_path / "fa.zip", read(bundle_of(certificate, people)))
    name = f"cited/{document.number}-V{document.version}.json"
    with zipfile.ZipFile(path) as archive:
        assert content_hash(json.loads(archive.read(name))) == document.content_hash
        assert {stored.download_name for stored in document.files.all()} == {
            other[6:] for other in archive.namelist()
            if other.startswith("cited/") and other != name}

    def forge(files):
        files[name].write_text(files[name].read_text().replace("LLM", "LLL"))

    assert any(f"{name} is none of the documents" in text
               for text in failures_but_signature(rewritten(path, forge)))


def test_a_run_under_another_figure_is_found(made):
    def forge(files):
        name = next(n for n in files if n.startswith("snapshots/"))
        snapshot = json.loads(files[name].read_text())
        entry = snapshot["criterion_runs"][0]
        entry["runs"].insert(0, {**entry["runs"][0], "standing": "later_counts", "figure": 0.001,
                                 "began": "2099-01-01 00:00:00"})
        files[name].write_text(json.dumps(snapshot))
        files["runs.json"].write_text(json.dumps(snapshot["criterion_runs"]))

    found = failures_but_signature(rewritten(made, forge))
    assert any("recomputed 0.004" in text for text in found)


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
    assert "Signature of Reviewer" in text


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
    assert any("recomputed Not provable" in text for text in failures(made))
    monkeypatch.setattr(bundle_verification, "ENGINE_CHANGES",
                        {"99": frozenset({"steps_unproven"})})
    with override("en"):
        steps = [step for step in verify_bundle(made) if "by the rules of engine" in step.text]
    assert [(step.is_good, step.is_open) for step in steps] == [(True, True)] * 2
    assert f"stated Passed by calculation engine {ENGINE_VERSION}" in steps[0].text


@pytest.mark.parametrize(("version", "is_good"), [("99", True), ("1", False)])
def test_what_a_later_engine_computes_is_no_forgery_of_the_earlier_one(monkeypatch, version,
                                                                       is_good):
    monkeypatch.setattr(bundle_verification, "ENGINE_GAINS",
                        {version: frozenset({"steps_unproven"})})
    metric = {"engine_version": ENGINE_VERSION, "outcome": "not_provable",
              "reason": "steps_unproven"}
    found = Outcome("failed", 4.0, "threshold_missed")
    assert bundle_verification._is_of_older_rules(found, metric, metric) is is_good
    with override("en"):
        step = bundle_verification._older_rules_step("M1", found, metric)
    assert "compute Failed from the raw files" in step.text
