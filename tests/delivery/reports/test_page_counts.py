"""The sample's documents stay short: facts of ten models as `manage.py demo` froze them."""

import gzip
import io
import json
from pathlib import Path

import pypdf
import pytest

from delivery.documents.bilingual import LANGUAGES, in_language
from delivery.reports.decision_summary import cited_test_report
from delivery.reports.rendering import render_document

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parent / "data" / "sample_documents.json.gz"
TEST_REPORT, BODY, CERTIFICATE = 20, 3, 11  # pages at most; body: before the first annex
ANNEX = {"zh-hans": "附录 A", "en": "Annex A"}


CERTIFICATES = {"certificate": "signed", "preliminary_certificate": "preliminary_signed"}


@pytest.fixture(scope="module")
def frozen() -> dict:
    """Test report, certificates, signatures; what documents share stands in the first."""
    found = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    return {**found, **{name: {**found["test_report"], **found[name]} for name in CERTIFICATES}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_report_of_ten_models_is_twenty_pages_at_most(frozen, language):
    assert len(pages(frozen["test_report"], language)) <= TEST_REPORT


@pytest.mark.parametrize("is_signed", [True, pytest.param(False, marks=pytest.mark.everything)])
@pytest.mark.parametrize("certificate", CERTIFICATES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_certificate_of_ten_models_is_three_pages_and_annexes(frozen, certificate, language,
                                                                is_signed):
    signed = frozen[CERTIFICATES[certificate]] if is_signed else None
    found = pages(frozen[certificate], language, signed)
    texts = [page.extract_text() for page in found]
    begins = [n for n, text in enumerate(texts) if ANNEX[language] in text[:200]]
    assert min(begins) <= BODY
    assert len(found) <= CERTIFICATE
    report = cited_test_report(in_language(frozen[certificate], language))
    body = "".join(texts[:BODY]).replace("\n", "")  # a number may be broken over two lines
    assert report["number"] in body
    assert report["hash"] in body
    if signed:
        assert any(signed["signatures"][0]["name"] in text for text in texts[-2:])


def test_the_sample_has_functional_and_accuracy_cases(frozen):
    cases = [row[0] for row in frozen["test_report"]["tables"]["functional"]["rows"]]
    assert [code for code in cases if code.startswith("TA-")] == ["TA-01", "TA-02"]
    assert len([code for code in cases if code.startswith("TF-")]) == 7


def pages(snapshot: dict, language: str, signed: dict | None = None) -> list:
    return pypdf.PdfReader(io.BytesIO(render_document(snapshot, language, signed))).pages
