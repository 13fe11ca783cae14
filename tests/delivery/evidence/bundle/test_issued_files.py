"""The list of other issued files in an evidence bundle."""

import json
import zipfile
from hashlib import sha256

import pytest

from delivery.documents.services.issued_files import store_missing
from delivery.quotes.services import create_quote
from engagements.models import Role
from tests.delivery.evidence.bundle.conftest import bundle_of, issue


@pytest.mark.slow
def test_the_bundle_names_what_else_was_issued(delivered, people):
    """Quotes, change orders and timesheets by checksum, as they were stored by then."""
    quote = create_quote(actor=people[Role.SALES], engagement=delivered)
    plain = {"pdf": lambda row, language: f"{row} {language}".encode()}
    store_missing(quote, plain, action="quote.file")
    document = issue(delivered, people)
    store_missing(quote, {"xlsx": plain["pdf"]}, action="quote.file")
    with zipfile.ZipFile(bundle_of(document, people).file) as archive:
        named = json.loads(archive.read("issued.json"))
    assert named == [{
        "name": f"{quote.number}-V1-{language}.pdf", "size": len(f"{quote} {language}"),
        "sha256": sha256(f"{quote} {language}".encode()).hexdigest()}
        for language in ("en", "zh-hans")]
