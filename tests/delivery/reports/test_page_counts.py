"""The sample's documents stay short: facts of ten models as `manage.py demo` froze them."""

import gzip
import io
import json
from pathlib import Path

import pypdf
import pytest

from delivery.documents.bilingual import LANGUAGES
from delivery.reports.rendering import render_document

SAMPLE = Path(__file__).parent / "data" / "sample_documents.json.gz"
TEST_REPORT, CERTIFICATE = 20, 12  # pages at most


@pytest.fixture(scope="module")
def frozen() -> dict:
    """Test report, certificate, its signatures; what both documents share stands in the first."""
    found = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    return {**found, "certificate": {**found["test_report"], **found["certificate"]}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_report_of_ten_models_is_twenty_pages_at_most(frozen, language):
    assert len(pages(frozen["test_report"], language)) <= TEST_REPORT


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_signed_certificate_of_ten_models_is_twelve_pages_at_most(frozen, language):
    found = pages(frozen["certificate"], language, frozen["signed"])
    assert len(found) <= CERTIFICATE
    assert frozen["signed"]["signatures"][0]["name"] in found[-2].extract_text()


def pages(snapshot: dict, language: str, signed: dict | None = None) -> list:
    return pypdf.PdfReader(io.BytesIO(render_document(snapshot, language, signed))).pages
