"""The signed list of checksums: no change passes, and it is said who signed, or that nobody did."""

import io
import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from django.core.management import CommandError, call_command

from benchmarks import tamper
from bundle_verifier.archive import CHECKSUMS, SIGNATURE, extract, write_archive
from bundle_verifier.manifest_signature import NOBODY_NAMED
from delivery.acceptance.signing.seals import practice_certificate
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.acceptance.signing.seals.detached_signature import sign_detached
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from delivery.evidence.models import EvidenceBundle
from delivery.evidence.services import build_bundle
from tests.cached_fixtures import cached_fixture
from tests.delivery.acceptance.signing.local_authorities import Certifier, answering
from tests.delivery.evidence.conftest import FIRM, set_key

pytestmark = pytest.mark.slow

SEED = 20261123
UNSIGNED = ("checksums hold, but the manifest is not signed: whoever could write the files could "
            "also change them")


@pytest.fixture
@cached_fixture
def concluded(review, act):
    """A signed and sealed acceptance."""
    act.decide(review)
    act.sign_and_seal(review)
    return review


@pytest.fixture
@cached_fixture
def stored(concluded, act, firm_key):
    return build(concluded, act)


@pytest.fixture
@cached_fixture
def unsigned(concluded, act):
    """The firm has set no key."""
    return build(concluded, act)


def build(review, act):
    return build_bundle(actor=act.manager, engagement=review.document.engagement,
                        document=review.document)


@pytest.fixture
def made(stored, tmp_path):
    return on_disk(stored, tmp_path)


def on_disk(bundle, folder):
    path = folder / "bundle.zip"
    with bundle.file.open("rb") as stream:
        path.write_bytes(stream.read())
    return path


def packed(path, change=lambda files: None, sign=None):
    """Unpacked, changed, and packed with mended checksums; `sign` is None: signature as it was."""
    files = {name: one.path for name, one in extract(path, path.parent / "parts").items()}
    del files[CHECKSUMS]
    retained = files.pop(SIGNATURE).read_bytes() if SIGNATURE in files else None
    change(files)
    with path.open("wb") as target:
        write_archive(target, files, sign=sign or (retained and (lambda _sums: retained)))
    return path


def without_signature(path):
    files = {name: one.path for name, one in extract(path, path.parent / "bare").items()}
    del files[CHECKSUMS], files[SIGNATURE]
    with path.open("wb") as target:
        write_archive(target, files)
    return path


def mend_statement(signature):
    def change(files):
        stated = json.loads(files["bundle.json"].read_text())
        files["bundle.json"].write_text(json.dumps({**stated, "signature": signature}))
    return change


def verify(path, *options) -> tuple[int, str]:
    """Exit status and output."""
    out = io.StringIO()
    try:
        call_command("verify", str(path), *options, language="en", stdout=out)
    except CommandError as error:
        return error.returncode, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


@pytest.fixture
def elsewhere(stored):
    """On a machine that knows nothing of the bundle."""
    return lambda: EvidenceBundle.objects.all().delete()


def change_of(name: str, old: str, new: str):
    def change(files):
        text = files[name].read_text()
        assert old in text, text
        files[name].write_text(text.replace(old, new, 1))
    return change


@pytest.mark.parametrize(("name", "old", "new"), [
    ("audit.json", '"number": ', '"number": 1'),
    ("criteria.json", '"epsilon": ', '"epsilon": 1'),
    ("verdicts.json", '"engine_version": ', '"engine_version": 1'),
    ("review.json", '"decided_at": "2', '"decided_at": "3'),
    ("README.en.txt", "raw files", "raw Files"),
    ("index.html", "SHA-256", "SHA-255")])
def test_a_change_with_mended_checksums_is_found(made, elsewhere, name, old, new):
    """Of these nothing else speaks but the list of checksums."""
    elsewhere()
    status, text = verify(packed(made, change_of(name, old, new)))
    assert status == 1
    assert f"SHA256SUMS is not what {FIRM}" in text


@pytest.mark.parametrize("change", [
    lambda files: files.pop("jobs.json"),
    lambda files: files.update({"more.json": files["jobs.json"]}),
    lambda files: files.update({"run.json": files.pop("jobs.json")})])
def test_files_taken_out_put_in_or_renamed_are_found(made, elsewhere, change):
    elsewhere()
    assert verify(packed(made, change))[0] == 1


def test_it_says_who_signed_and_that_nobody_vouches_for_that(made, stored, elsewhere, firm_key):
    elsewhere()
    status, text = verify(made)
    assert status == 3
    assert f"signed by {FIRM} · Delivery Desk" in text
    assert stored.fingerprint in text
    assert "self-signed" in text
    assert "no time stamp" in text
    assert "Compare its SHA-256" in text
    assert text.endswith(f"good if the certificate SHA-256 {stored.fingerprint} is the firm's, "
                         "which was not checked")
    status, text = verify(made, "--certificate", firm_key)
    assert (status, "The bundle is good." in text) == (0, True)


def test_the_installation_that_stored_it_knows_the_signer(made, stored):
    assert (stored.signer, stored.stamped_at) == (f"{FIRM} · Delivery Desk", None)
    status, text = verify(made)
    assert (status, "The bundle is good." in text) == (0, True)
    assert "stored this very file on" in text


@pytest.fixture
def other_signer(settings, tmp_path):
    """Somebody else, whose certificate bears the firm's name."""
    set_key(settings, tmp_path, practice_certificate.make_pkcs12(
        b"firm", name=FIRM, key_bits=2048), "other")
    return load_signer()


def resigned(path, signer):
    """Everything mended that can be without the firm's key."""
    return packed(path, mend_statement({"certificate": signer.signing_cert.sha256.hex()}),
                  lambda sums: sign_detached(sums, signer))


def test_another_key_is_somebody_else(made, firm_key, other_signer, elsewhere):
    path = resigned(made, other_signer)
    for options in ([], ["--certificate", firm_key]):  # first by the installation's record
        status, text = verify(path, *options)
        assert (status, "Signed by somebody else" in text) == (1, True), text
    elsewhere()
    assert verify(path)[0] == 3


def test_bundle_json_names_the_signer(made, other_signer, elsewhere):
    elsewhere()
    status, text = verify(packed(made, sign=lambda sums: sign_detached(sums, other_signer)))
    assert (status, "not by the signer named in bundle.json" in text) == (1, True), text


def test_a_signature_taken_off_is_missed(made, elsewhere):
    elsewhere()
    status, text = verify(without_signature(made))
    assert (status, "named in bundle.json is missing" in text) == (1, True)


def test_a_failed_bundle_is_not_hidden_by_an_open_one(made, elsewhere, tmp_path):
    elsewhere()
    failed = tmp_path / "failed.zip"
    failed.write_bytes(made.read_bytes())
    assert verify(made)[0] == 3
    assert verify(made, str(without_signature(failed)))[0] == 1


def test_made_to_look_as_if_never_signed(made, firm_key, elsewhere):
    path = packed(without_signature(made), mend_statement(None))
    for options in ([], ["--certificate", firm_key]):
        status, text = verify(path, *options)
        expected = "SHA256SUMS is not signed, and it is not the expected file"
        assert (status, expected in text) == (1, True)
    elsewhere()
    status, text = verify(path)
    assert (status, text.endswith(UNSIGNED)) == (3, True)


def test_nobody_signs_without_a_key(unsigned, tmp_path):
    assert (unsigned.signer, unsigned.fingerprint) == ("", "")
    path = on_disk(unsigned, tmp_path)
    status, text = verify(path)
    assert (status, "SHA256SUMS is not signed." in text) == (0, True), text  # it is the very file
    EvidenceBundle.objects.all().delete()
    status, text = verify(path)
    assert (status, text.endswith(UNSIGNED), "is good" in text) == (3, True, False)
    files = extract(path, tmp_path / "parts")
    assert json.loads(files["bundle.json"].path.read_text())["signature"] is None
    for name in ("README.en.txt", "index.en.html"):
        assert "SHA256SUMS is not signed" in files[name].path.read_text()


def test_a_bundle_of_before_signatures_is_checked_as_before(unsigned, tmp_path):
    """Format 2 says nothing of a signature."""
    def as_format_2(files):
        stated = json.loads(files["bundle.json"].read_text())
        del stated["signature"]
        files["bundle.json"].write_text(json.dumps({**stated, "format": 2}))

    EvidenceBundle.objects.all().delete()
    status, text = verify(packed(on_disk(unsigned, tmp_path), as_format_2))
    assert (status, text.endswith(UNSIGNED), "FAIL" in text) == (3, True, False)
    assert "LLM · loss_mean_relative_error" in text


def test_a_practice_certificate_does_not_sign_what_counts(made, elsewhere):
    signer = load_signer(is_practice=True)
    elsewhere()
    status, text = verify(resigned(made, signer))
    assert (status, "was used to sign real data" in text) == (1, True)


def test_practice_data_is_signed_as_such(practised, act, tmp_path, firm_key):
    from tests.delivery.evidence.bundle.conftest import issue

    document = issue(practised, act.people)
    bundle = build_bundle(actor=act.manager, engagement=practised, document=document)
    assert bundle.signer.startswith("PRACTICE")
    path = on_disk(bundle, tmp_path)
    status, text = verify(path)
    assert (status, "practice certificate, of no legal effect" in text) == (0, True)
    page = extract(path, tmp_path / "parts")["index.en.html"].path.read_text()
    assert "It is a practice certificate, of no legal effect." in page
    assert bundle.fingerprint in page


@pytest.fixture
def certified(settings, tmp_path):
    """The firm's key and a time stamp authority under one root."""
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(tmp_path / "firm.p12"), "test"
    return Certifier(tmp_path)


def test_the_authority_confirms_the_time_and_the_root_the_signer(
        concluded, act, certified, settings, tmp_path):
    with answering(certified.stamper()) as settings.SIGNING_TIMESTAMP_URL:
        bundle = build(concluded, act)
    assert bundle.stamped_at
    path = on_disk(bundle, tmp_path)
    EvidenceBundle.objects.all().delete()
    status, text = verify(path, "--trust", certified.root_file)
    assert "Its certificate chains to one that you trust." in text
    assert "by Test Time Stamps" in text
    (tmp_path / "other").mkdir()
    other = Certifier(tmp_path / "other", key="other")
    status, text = verify(path, "--trust", other.root_file)
    assert (status, "does not chain to a certificate that you trust" in text) == (1, True)


@pytest.fixture
def stamped(concluded, act, certified, settings, tmp_path):
    """A bundle signed with a certified key, with a time stamp, as others see it."""
    with answering(certified.stamper()) as settings.SIGNING_TIMESTAMP_URL:
        path = on_disk(build(concluded, act), tmp_path)
    EvidenceBundle.objects.all().delete()
    (tmp_path / "firm.pem").write_bytes(certified.firm.public_bytes(Encoding.PEM))
    return path


def ocsp_answer(certifier, certificate, status, at) -> bytes:
    return (ocsp.OCSPResponseBuilder().add_response(
        certificate, certifier.root, hashes.SHA256(), status, at, at + timedelta(days=1),
        at if status == ocsp.OCSPCertStatus.REVOKED else None, None)
        .responder_id(ocsp.OCSPResponderEncoding.HASH, certifier.root)
        .sign(certifier.key, hashes.SHA256()).public_bytes(Encoding.DER))


def test_it_says_whether_the_certificate_was_revoked(stamped, certified, tmp_path):
    """Without a list it was not checked; an old one says nothing; a revocation before counts."""
    trust = ("--certificate", tmp_path / "firm.pem")
    status, text = verify(stamped, *trust)
    assert (status, "was not checked: name revocation lists" in text) == (3, True), text
    crl = tmp_path / "list.crl"
    crl.write_bytes(certified.revocations())  # of yesterday
    status, text = verify(stamped, *trust, "--crl", crl)
    assert (status, "does not cover CN=" in text) == (3, True), text
    certified.now = datetime.now(UTC) + timedelta(days=2)  # its list is of tomorrow
    crl.write_bytes(certified.revocations())
    status, text = verify(stamped, *trust, "--crl", crl)
    assert (status, "Not revoked according to what was given" in text) == (0, True), text
    certified.revoked.append(certified.firm)  # tomorrow: after the time stamp
    crl.write_bytes(certified.revocations())
    assert verify(stamped, *trust, "--crl", crl)[0] == 0
    certified.now = datetime.now(UTC)  # yesterday
    crl.write_bytes(certified.revocations())
    status, text = verify(stamped, *trust, "--crl", crl)
    assert (status, "was revoked on" in text) == (1, True), text
    (tmp_path / "other").mkdir()
    other = Certifier(tmp_path / "other", key="other")  # the same name, another key
    crl.write_bytes(other.revocations())
    assert verify(stamped, *trust, "--crl", crl)[0] == 3
    crl.write_bytes(b"no list")
    assert "not a readable revocation list" in verify(stamped, *trust, "--crl", crl)[1]


@pytest.mark.parametrize(("status", "days", "expected"), [
    ("GOOD", 1, 0), ("GOOD", -1, 3), ("REVOKED", -1, 1), ("UNKNOWN", 1, 3)])
def test_an_ocsp_answer_tells_too(stamped, certified, tmp_path, status, days, expected):
    path = tmp_path / "answer.der"
    path.write_bytes(ocsp_answer(certified, certified.firm, ocsp.OCSPCertStatus[status],
                                 datetime.now(UTC) + timedelta(days=days)))
    assert verify(stamped, "--certificate", tmp_path / "firm.pem", "--ocsp", path)[0] == expected


def test_without_the_authority_no_bundle_is_stored(concluded, act, firm_key, settings):
    settings.SIGNING_TIMESTAMP_URL = "http://127.0.0.1:9/"
    with pytest.raises(SealUnavailableError):
        build(concluded, act)
    assert not EvidenceBundle.objects.exists()


def test_no_kind_of_change_passes(made, elsewhere, tmp_path):
    """Each of `benchmarks.tamper` a few times."""
    (tmp_path / "tamper").mkdir()
    bundle, chance = tamper.unpacked(made, tmp_path / "tamper"), random.Random(SEED)
    named, path = tamper.signer_of(made), tmp_path / "changed.zip"
    elsewhere()
    assert not tamper.is_found(made, named)
    for kind, (_weight, change, needs_name) in tamper.KINDS.items():
        for _time in range(3):
            tamper.packed(bundle, change(bundle, chance), path)
            assert tamper.is_found(path, named if needs_name else NOBODY_NAMED), kind


def test_pages_and_api_say_who_signed(stored, act, client):
    client.force_login(act.manager)
    for path in (f"/documents/{stored.document_id}/",
                 f"/engagements/{stored.engagement.code}/documents/"):
        page = client.get(path).content.decode()
        assert f"{FIRM} · Delivery Desk" in page, path
    [row] = client.get("/api/v1/bundles/").json()["results"]
    assert (row["signer"], row["fingerprint"]) == (stored.signer, stored.fingerprint)
    EvidenceBundle.objects.update(signer="", fingerprint="")
    page = client.get(f"/documents/{stored.document_id}/", HTTP_ACCEPT_LANGUAGE="en")
    assert "not signed" in page.content.decode()
