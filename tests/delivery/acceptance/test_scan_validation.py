"""Uploaded scans: only plain PDF, PNG and JPEG are accepted."""

import io
from hashlib import sha256

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image
from pyhanko.pdf_utils import generic
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.pdf_utils.writer import copy_into_new_writer

from delivery.documents import scan_validation
from engagements.errors import InvalidInput
from tests.delivery.review_steps import SHORT


def picture(kind="PNG", size=(800, 1100)) -> bytes:
    out = io.BytesIO()
    Image.linear_gradient("L").resize(size).save(out, kind)
    return out.getvalue()


def upload(content: bytes, name="scan.pdf") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, content_type="application/pdf")


def pdf_with(change) -> bytes:
    writer = copy_into_new_writer(PdfFileReader(io.BytesIO(SHORT)))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def javascript(writer) -> None:
    writer.root["/OpenAction"] = generic.DictionaryObject({
        generic.pdf_name("/S"): generic.pdf_name("/JavaScript"),
        generic.pdf_name("/JS"): generic.pdf_string("app.alert(1)")})


def attached(writer) -> None:
    writer.root["/Names"] = writer.add_object(generic.DictionaryObject({
        generic.pdf_name("/EmbeddedFiles"): generic.DictionaryObject()}))


def launched(writer) -> None:
    page = writer.root["/Pages"]["/Kids"][0]
    page["/Annots"] = generic.ArrayObject([writer.add_object(generic.DictionaryObject({
        generic.pdf_name("/A"): generic.DictionaryObject({
            generic.pdf_name("/S"): generic.pdf_name("/Launch")})}))])


@pytest.mark.parametrize(("content", "ending"), [
    (picture("PNG"), ".png"), (picture("JPEG"), ".jpg"), (SHORT, ".pdf")])
def test_a_plain_scan_is_kept_as_it_is(content, ending):
    found = scan_validation.checked_scan(upload(content, "../../盖章 页<1>.exe"))
    assert (found.content, found.sha256) == (content, sha256(content).hexdigest())
    assert found.name == f"盖章_页_1{ending}"


@pytest.mark.parametrize("content", [
    b"", b"<html><script>", b"MZ\x90", b"GIF89a" + b"0" * 99, b"\x89PNG\r\n\x1a\n" + b"0" * 99,
    picture("PNG")[:-300], picture("JPEG")[:900], picture(size=(20, 900)), b"%PDF-1.7\nnothing",
    SHORT[:120], pdf_with(javascript), pdf_with(attached), pdf_with(launched)])
def test_anything_else_is_refused(content):
    with pytest.raises(InvalidInput):
        scan_validation.checked_scan(upload(content))


def test_sizes_are_limited(monkeypatch):
    monkeypatch.setattr(scan_validation, "MAX_BYTES", 500)
    with pytest.raises(InvalidInput):
        scan_validation.checked_scan(upload(picture()))
    monkeypatch.setattr(scan_validation, "MAX_BYTES", 10**7)
    monkeypatch.setattr(scan_validation, "MAX_PIXELS", 400_000)
    with pytest.raises(InvalidInput):
        scan_validation.checked_scan(upload(picture()))


def test_a_protected_pdf_is_refused():
    writer = copy_into_new_writer(PdfFileReader(io.BytesIO(SHORT)))
    writer.encrypt("owner", "user")
    out = io.BytesIO()
    writer.write(out)
    with pytest.raises(InvalidInput):
        scan_validation.checked_scan(upload(out.getvalue()))


@pytest.mark.slow
def test_a_signature_by_scan_keeps_the_bytes_and_hands_them_out_as_a_download(
        review, act, client, stranger):
    act.decide(review)
    content = picture()
    row = act.sign_and_seal(review, mark="scan", scan=upload(content, "sealed.png"))
    assert (row.mark, row.scan_sha256) == ("scan", sha256(content).hexdigest())
    client.force_login(act.manager)
    answer = client.get(f"/signatures/{row.pk}/scan/")
    assert b"".join(answer.streaming_content) == content
    assert answer["Content-Type"] == "application/octet-stream"
    assert "attachment" in answer["Content-Disposition"]
    assert "sandbox" in answer["Content-Security-Policy"]
    client.force_login(stranger)
    assert client.get(f"/signatures/{row.pk}/scan/").status_code == 404


def test_a_scan_that_is_missing_wastes_no_code(review, act):
    act.decide(review)
    code = act.begin(review)
    with pytest.raises(InvalidInput):
        act.sign(review, mark="scan", code=code)
    assert act.sign(review, code=code).mark == "typed"
