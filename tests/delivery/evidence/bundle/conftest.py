"""Bundles of an issued test report and of a signed acceptance, on disk."""

import io

import pytest
from django.core.management import call_command
from django.utils.translation import override

from bundle_verifier.archive import (
    CHECKSUMS,
    SIGNATURE,
    extract,
    write_archive,
)
from bundle_verifier.bundle_verification import verify_bundle
from delivery.evidence.services import build_bundle
from delivery.reports import services as reporting
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.document_steps import issued_document


@pytest.fixture(autouse=True)
def certificate(firm_key):
    """All bundles here are signed, and checked against this certificate."""
    return firm_key


def issue(engagement, people):
    return issued_document(reporting.draft_test_report(
        actor=people[Role.MANAGER], engagement=engagement), people)


@pytest.fixture
@cached_fixture
def document(delivered, people):
    """An issued test report."""
    return issue(delivered, people)


@pytest.fixture
@cached_fixture
def bundle(document, people):
    return bundle_of(document, people)


def bundle_of(document, people, **options):
    return build_bundle(actor=people[Role.MANAGER], engagement=document.engagement,
                        document=document, **options)


@pytest.fixture(scope="session")
def once() -> dict[str, bytes]:
    """Bundles that were made already: most tests only read or damage a copy."""
    return {}


@pytest.fixture
def made(request, once, tmp_path):
    """A bundle on disk."""
    if "made" not in once:
        once["made"] = read(request.getfixturevalue("bundle"))
    return written(tmp_path / "bundle.zip", once["made"])


def read(bundle) -> bytes:
    with bundle.file.open("rb") as stream:
        return stream.read()


def written(path, content: bytes):
    path.write_bytes(content)
    return path


def failures(path) -> list[str]:
    with override("en"):
        return [step.text for step in verify_bundle(path) if not step.is_good]


def rewritten(path, change):
    """The bundle unpacked, changed by `change(files)`, and packed as if by us, without the key."""
    folder = path.parent / "unpacked"
    files = {name: member.path for name, member in extract(path, folder).items()}
    change(files)
    del files[CHECKSUMS]
    signature = files.pop(SIGNATURE).read_bytes()
    with path.open("wb") as target:
        write_archive(target, files, sign=lambda _sums: signature)
    return path


def failures_but_signature(path) -> list[str]:
    """What is found by the other checks, as in a bundle that nobody signed."""
    first, *others = failures(path)
    assert first == "SHA256SUMS is not what 昇腾迁移交付有限公司 · Delivery Desk signed: " \
                    "SHA256SUMS.p7s is not valid."
    return others


@pytest.fixture
def signed_bundle(request, once, tmp_path):
    """The bundle of a signed acceptance document."""
    if "signed" not in once:
        review, act = map(request.getfixturevalue, ("review", "act"))
        act.decide(review)
        act.sign_and_seal(review)
        once["signed"] = read(build_bundle(
            actor=act.manager, engagement=review.document.engagement, document=review.document))
    return written(tmp_path / "signed.zip", once["signed"])


def verified(path, certificate, **options) -> str:
    out = io.StringIO()
    call_command("verify", str(path), language="en", stdout=out, certificate=[str(certificate)],
                 **options)
    return out.getvalue()
