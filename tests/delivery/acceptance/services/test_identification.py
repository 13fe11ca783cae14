"""Who signs: terms, one-time code, form of the signature, order, declining."""

import json
from datetime import timedelta

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.utils import timezone
from django.utils.translation import override

from delivery.acceptance import services
from delivery.acceptance.forms import SignersForm
from delivery.acceptance.models import Identification, Review, Signature
from delivery.acceptance.services import identification
from delivery.acceptance.signing.drawn_signature import as_svg, checked_drawing
from delivery.acceptance.signing.signature_page import signed_facts
from delivery.agreement.facts import shown
from delivery.agreement.queries import agreement_of
from delivery.agreement.services import agree
from delivery.notices.models import MailSetting, Notice
from delivery.reports import services as reporting
from delivery.reports.models import Document
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.acceptance.test_scan_validation import picture
from tests.delivery.conftest import api_client, enter
from tests.document_steps import issued_document

LINE = [[n * 10, n * 5] for n in range(20)]


@pytest.fixture
@cached_fixture
def decided(review, act):
    return act.decide(review)


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06}"


def later(**given) -> None:
    """Let time pass for the codes that were sent."""
    Identification.objects.update(sent_at=F("sent_at") - timedelta(**given),
                                  expires_at=F("expires_at") - timedelta(**given))


def test_terms_name_and_capacity_come_first(decided, act):
    for given in ({"agrees": False}, {"name": "赵"}, {"capacity": ""}):
        with pytest.raises(InvalidInput):
            act.begin(decided, **given)
    assert mail.outbox == []


def test_only_a_keyed_hash_of_the_code_is_stored(decided, act):
    code = act.begin(decided)
    row = Identification.objects.get()
    assert code not in json.dumps([row.code_hash, row.salt, row.sent_to])
    assert len(row.code_hash) == 64
    assert mail.outbox[-1].to == ["reviewer@firm.example"]
    assert row.sent_to == "r***@firm.example"
    assert code not in json.dumps([entry.data for entry in AuditEntry.objects.all()])


@pytest.mark.parametrize(("chosen", "asked_in", "subject", "words"), [
    ("", "en", "[Delivery Desk] Code for signing", "Your code for signing"),
    ("", "zh-hans", "[迁移交付台] 签署验证码", "验证码"),
    ("en", "zh-hans", "[Delivery Desk] Code for signing", "Your code for signing"),
    ("zh-hans", "en", "[迁移交付台] 签署验证码", "验证码"),
])
def test_the_code_comes_in_the_signers_language_alone(
        decided, act, people, chosen, asked_in, subject, words):
    """The one chosen for e-mails, else that of the page on which the code is asked for."""
    if chosen:
        MailSetting.objects.create(user=people[Role.REVIEWER], language=chosen)
    with override(asked_in):
        code = act.begin(decided)
    [sent] = mail.outbox[-1:]
    assert sent.subject == subject
    assert words in sent.body
    assert sent.body.count(code) == 1
    assert ("Your code for signing" in sent.body) == (words == "Your code for signing")


def test_a_wrong_code_counts_and_five_end_it(decided, act):
    code = act.begin(decided)
    for left in (4, 3, 2, 1):
        with pytest.raises(InvalidInput, match=str(left)):
            act.sign(decided, code=wrong(code))
    with pytest.raises(InvalidInput):
        act.sign(decided, code=wrong(code))
    with pytest.raises(WrongState):
        act.sign(decided, code=code)
    assert Signature.objects.count() == 0


def test_a_code_ends_after_ten_minutes(decided, act):
    code = act.begin(decided)
    later(minutes=11)
    with pytest.raises(WrongState):
        act.sign(decided, code=code)


def test_a_code_is_used_once_and_by_its_owner_only(decided, act, delivered):
    other = act.colleague(delivered, "zhao")
    code = act.begin(decided)
    with pytest.raises(WrongState):
        act.sign(decided, actor=other, code=code)
    act.sign(decided, code=f" {code[:3]} {code[3:]} ")
    assert Identification.objects.get().used_at
    with pytest.raises(WrongState):
        act.sign(decided, code=code)


def test_a_new_code_ends_the_old_one_and_they_are_paced(decided, act):
    first = act.begin(decided)
    with pytest.raises(WrongState):
        act.begin(decided)
    for _n in range(identification.MAX_CODES_PER_HOUR - 1):
        later(minutes=2)
        act.begin(decided)
    with pytest.raises((WrongState, InvalidInput)):
        act.sign(decided, code=first)
    later(minutes=2)
    with pytest.raises(WrongState):
        act.begin(decided)
    later(hours=1)
    assert act.begin(decided)


def test_an_account_without_address_is_told(decided, act):
    act.reviewer.email = ""
    with pytest.raises(InvalidInput):
        act.begin(decided)


def test_a_mail_server_that_is_away_is_told(decided, act, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    with pytest.raises(WrongState):
        act.begin(decided)


def test_the_signature_names_terms_files_and_place(decided, act):
    row = act.sign(decided)
    assert row.identification.terms_hash
    assert row.file_hashes == {f.language: f.sha256
                               for f in decided.document.files.filter(format="pdf")}
    entry = AuditEntry.objects.get(action="document.sign").data
    assert (entry["terms"], entry["files"]) == (row.identification.terms_hash, row.file_hashes)
    assert (row.user_agent, row.ip_address) == ("Firefox", "10.1.2.3")


@pytest.mark.parametrize("strokes", [
    "", "[]", "null", "{", '"x"', "[[[1,2]]]", '[[["1","2"]]]', "[[[1,2,3]]]", "[[[NaN,1]]]",
    '[["<svg onload=alert(1)>"]]', json.dumps([[[1, 1e9]] * 9]), json.dumps([[[True, False]] * 9]),
    json.dumps([[[1, 1]] * 7000]), json.dumps([LINE] * 300), "[" * 5000,
    json.dumps([[[n, 5]] for n in range(20)]), json.dumps([[[5, 5]] * 20])])  # nobody sees dots
def test_a_drawing_is_numbers_within_its_field_or_nothing(strokes):
    with pytest.raises(InvalidInput):
        checked_drawing(strokes)


def test_a_drawing_becomes_our_own_picture(decided, act):
    row = act.sign(decided, mark="drawn", strokes=json.dumps([LINE, LINE]))
    picture = as_svg(row.strokes)
    assert picture.count("<path") == 2
    assert "M0 0 L10 5" in picture


@pytest.mark.slow
def test_an_authenticator_app_identifies_in_place_of_a_mail(decided, act, client, monkeypatch):
    """For whoever has one; the signature page says by what the signer was identified."""
    url = f"/documents/{decided.document_id}/review/"
    client.force_login(act.reviewer)
    given = {"agrees": "yes", "capacity": "甲方", "way": "app"}
    assert client.post(url + "identify/", given).status_code == 400  # has none
    for name, found in (("services.identification.has_authenticator_app", lambda user: True),
                        ("views.signing.has_authenticator_app", lambda user: True),
                        ("services.identification.is_code_of_app",
                         lambda user, code: (user, code) == (act.reviewer, "123456"))):
        monkeypatch.setattr(f"delivery.acceptance.{name}", found)
    assert 'value="app"' in client.get(url + "signing/").content.decode()
    assert client.post(url + "identify/", given).status_code == 302
    row = Identification.objects.get()
    assert (row.way, row.sent_to, row.code_hash, mail.outbox) == ("app", "", "", [])
    with pytest.raises(InvalidInput):
        act.sign(decided, code="")  # what is stored for a code that was never sent is no code
    with pytest.raises(InvalidInput):
        act.sign(decided, code="654321")
    act.sign(decided, code="123 456")
    [facts] = signed_facts(decided)["signatures"]
    assert (facts["code_way"], facts["code_to"]) == ("app", "")


def test_a_chosen_scan_that_a_refusal_loses_is_said(decided, act, client):
    """No browser fills a file field again."""
    url, said = f"/documents/{decided.document_id}/review/", "The chosen file was not kept"
    client.force_login(act.reviewer)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    sent = {"code": wrong(act.begin(decided)), "mark": "scan", "confirmed": "yes"}
    scan = SimpleUploadedFile("scan.png", picture(), "image/png")
    assert said not in client.get(url + "signing/").content.decode()
    assert said not in client.post(url + "sign/", {**sent, "mark": "typed"}).content.decode()
    assert said in client.post(url + "sign/", {**sent, "scan": scan}).content.decode()


@pytest.mark.slow
def test_a_passkey_identifies_in_place_of_a_code(decided, act, client, monkeypatch):
    """For whoever has one; a real one signs in `tests/browser/test_passkeys.py`."""
    url, api = f"/documents/{decided.document_id}/review/", f"/api/v1/reviews/{decided.pk}/passkey/"
    client.force_login(act.reviewer)
    given = {"agrees": "yes", "capacity": "甲方", "way": "passkey"}
    assert client.post(url + "identify/", given).status_code == 400  # has none
    assert client.get(api).json() == {"request": None}
    for name, found in (("services.identification.has_passkey", lambda user: True),
                        ("views.signing.has_passkey", lambda user: True),
                        ("services.identification.request_of",
                         lambda user, challenge: {"publicKey": {"challenge": challenge.hex()}}),
                        ("services.identification.proof_of", lambda user, challenge, answer:
                         {"answer": answer} if answer == {"id": "mine"} else {})):
        monkeypatch.setattr(f"delivery.acceptance.{name}", found)
    assert 'value="passkey"' in client.get(url + "signing/").content.decode()
    assert client.post(url + "identify/", given).status_code == 302
    row = Identification.objects.get()
    assert (row.way, row.sent_to, row.code_hash, mail.outbox) == ("passkey", "", "", [])
    challenge = identification.challenge_of(row).hex()
    assert client.get(api).json() == {"request": {"publicKey": {"challenge": challenge}}}
    assert challenge in client.get(url + "signing/").content.decode()
    sent = {"mark": "typed", "confirmed": "yes"}
    for answer in ("", "{}", '{"id": "another"}'):
        assert client.post(url + "sign/", {**sent, "passkey": answer}).status_code == 400
    assert Identification.objects.get().attempts == 3
    assert AuditEntry.objects.filter(action="review.wrong_code").count() == 3
    assert client.post(url + "sign/", {**sent, "passkey": '{"id": "mine"}'}).status_code == 302
    assert Identification.objects.get().proof == {"answer": {"id": "mine"}}
    [facts] = signed_facts(decided)["signatures"]
    assert (facts["code_way"], facts["code_to"]) == ("passkey", "")


# Order ---------------------------------------------------------------------------------

@pytest.fixture
@cached_fixture
def panel(decided, act, delivered):
    """Two reviewers who sign in turn."""
    second = act.colleague(delivered, "zhao")
    services.name_signers(actor=act.manager, review=decided, users=[act.reviewer, second])
    return decided, second


@pytest.mark.slow
def test_signers_sign_in_turn_and_the_last_one_concludes(panel, act):
    review, second = panel
    with pytest.raises(WrongState):
        act.begin(review, second)
    act.sign_and_seal(review)
    assert Document.objects.get(pk=review.document_id).state == "issued"
    assert not review.document.files.filter(format__startswith="signed").exists()
    act.sign_and_seal(review, actor=second)
    assert Document.objects.get(pk=review.document_id).state == "signed"
    assert review.document.files.filter(format="signed2").count() == 2


@pytest.mark.slow
def test_the_agreement_names_signers_order_and_capacity_for_each_paper(delivered, act, people):
    second = act.colleague(delivered, "zhao")
    rows = [{"user": "zhao", "capacity": "采购部"},
            {"user": act.reviewer.username, "capacity": "项目负责人"}]
    for wrong in ([{"user": "nobody"}], [rows[0], rows[0]], [{"user": act.manager.username}]):
        with pytest.raises(InvalidInput):
            enter(delivered, people, signers=wrong)
    enter(delivered, people, signers=rows)
    agree(actor=act.manager, engagement=delivered, values=agreement_of(delivered).values,
          basis="SOW-1")
    with override("en"):
        assert shown("signers", agreement_of(delivered).value("signers")) == (
            "1. Zhao · 采购部\n2. Reviewer · 项目负责人")
    review = act.open(delivered, kind="PA")
    assert [(row.user, row.capacity) for row in review.signers.all()] == [
        (second, "采购部"), (act.reviewer, "项目负责人")]
    services.name_signers(actor=act.manager, review=review, users=[act.reviewer])
    act.decide(review, "rejected", reason="x")
    act.sign(review)
    final = act.open(delivered)  # those of the agreement again
    assert [row.user for row in final.signers.all()] == [second, act.reviewer]


def test_the_form_of_the_agreement_takes_signers(delivered, act, client):
    act.colleague(delivered, "zhao")
    client.force_login(act.manager)
    page = "/engagements/EP2501/agreement/"
    assert "signer_1" in client.get(page).content.decode()
    assert client.post(page, {"signer_0": "zhao", "capacity_0": "采购部"}).status_code == 302
    [row] = agreement_of(delivered).value("signers")
    assert (row["user"], row["capacity"]) == ("zhao", "采购部")


def test_who_is_not_named_does_not_sign(panel, act, delivered):
    with pytest.raises(NotAllowed):
        act.begin(panel[0], act.colleague(delivered, "qian"))


def test_each_signer_hears_of_his_turn_and_everyone_of_the_end(panel, act, people):
    review, second = panel

    def heard(user):
        return [n.event.kind for n in Notice.objects.filter(recipient=user).order_by("pk")]

    assert heard(act.reviewer).count("signature_turn") == 1
    assert "signature_turn" not in heard(second)
    act.sign(review)
    assert heard(second)[-2:] == ["document_signed", "signature_turn"]
    act.sign(review, second)
    assert heard(people[Role.SALES])[-1] == "document_signed"
    assert heard(act.manager).count("document_signed") == 2


def test_declining_stops_everybody_until_the_manager_acts(panel, act):
    review, second = panel
    with pytest.raises(InvalidInput):
        services.decline(actor=act.reviewer, review=review, reason=" ")
    with pytest.raises(WrongState):
        services.decline(actor=second, review=review, reason="not my turn")
    services.decline(actor=act.reviewer, review=review, reason="缺少用户手册")
    for actor in (act.reviewer, second):
        with pytest.raises(WrongState, match="缺少用户手册"):
            act.begin(review, actor)
    assert Notice.objects.filter(recipient=act.manager,
                                 event__kind="signature_declined").count() == 1
    services.name_signers(actor=act.manager, review=review, users=[second])
    act.sign(review, second)
    assert Document.objects.get(pk=review.document_id).state == "signed"


def test_signers_are_reviewers_of_the_engagement_named_once(decided, act, people):
    for users in ([people[Role.MANAGER]], [act.reviewer, act.reviewer]):
        with pytest.raises(InvalidInput):
            services.name_signers(actor=act.manager, review=decided, users=users)
    with pytest.raises(NotAllowed):
        services.name_signers(actor=act.reviewer, review=decided, users=[])


def test_once_somebody_signed_only_the_others_are_named_anew(panel, act, delivered):
    review, second = panel
    third = act.colleague(delivered, "qian")
    act.sign(review)
    for users in ([], [act.reviewer, third]):
        with pytest.raises(InvalidInput):
            services.name_signers(actor=act.manager, review=review, users=users)
    services.name_signers(actor=act.manager, review=review, users=[third])
    with pytest.raises(NotAllowed):
        act.begin(review, second)
    act.sign(review, third)
    assert Document.objects.get(pk=review.document_id).state == "signed"
    assert [(s.position, s.user) for s in review.signers.all()] == [
        (1, act.reviewer), (2, third)]


def replaced(review, act) -> Document:
    return act.correct(Document.objects.get(pk=review.document_id), {})


def drafted_anew(review, act) -> Document:
    """Beside the old one, as a document of its own."""
    return issued_document(reporting.draft_acceptance(
        actor=act.manager, engagement=review.engagement), act.people)


def never_opened(review, act) -> Document:
    """The version between them was not put before the customer."""
    return act.correct(replaced(review, act), {})


def open_by_service(document, act):
    services.open_review(actor=act.manager, document=document)


def open_on_the_page(document, act):
    client = Client()
    client.force_login(act.manager)
    client.post(f"/documents/{document.pk}/review/open/")


def open_by_api(document, act):
    api_client(act.manager).post("/api/v1/reviews/", {"document": document.pk}, format="json")


@pytest.mark.parametrize(("follows", "opens"), [
    (replaced, open_by_service),
    *(pytest.param(replaced, opens, marks=pytest.mark.everything)
      for opens in (open_on_the_page, open_by_api)),
    *(pytest.param(follows, open_by_service, marks=pytest.mark.slow)
      for follows in (drafted_anew, never_opened))])
def test_the_next_version_is_signed_by_the_same_people(panel, act, follows, opens):
    """All of them anew, in the same order, whoever signed or declined before."""
    review, second = panel
    act.sign(review)
    services.decline(actor=second, review=review, reason="缺少用户手册")
    document = follows(review, act)
    opens(document, act)
    again = Review.objects.get(document=document)
    assert [(s.position, s.user, s.state, s.reason) for s in again.signers.all()] == [
        (1, act.reviewer, "waiting", ""), (2, second, "waiting", "")]
    assert AuditEntry.objects.filter(action="review.open").order_by("pk").last().data[
        "signers"] == [act.reviewer.username, second.username]
    act.decide(again)
    later(minutes=2)
    act.sign(again)
    assert Document.objects.get(pk=document.pk).state == "issued"
    act.sign(again, second)
    assert Document.objects.get(pk=document.pk).state == "signed"


@pytest.mark.slow
def test_a_version_has_its_own_order_once_it_is_named(panel, act):
    """The one before keeps its own; whoever replaces this one follows it."""
    review, second = panel
    first = replaced(review, act)
    again = services.open_review(actor=act.manager, document=first)
    services.name_signers(actor=act.manager, review=again, users=[second])
    third = services.open_review(actor=act.manager, document=replaced(again, act))
    assert [[s.user for s in row.signers.all()] for row in (review, again, third)] == [
        [act.reviewer, second], [second], [second]]


def test_the_page_offers_a_place_to_everybody_who_is_named(decided, act, delivered):
    """Saving what it shows loses nobody, however many the API has named."""
    people = [act.reviewer, *(act.colleague(delivered, f"signer{n}") for n in range(7))]
    services.name_signers(actor=act.manager, review=decided, users=people)
    form = SignersForm(review=decided)
    assert [form[name].initial for name in form.fields] == [user.pk for user in people]


@pytest.mark.slow
def test_the_pages_of_signing(panel, act, client, people):
    review, second = panel
    url = f"/documents/{review.document_id}/review/"
    client.force_login(people[Role.MANAGER])
    assert client.get(url + "signing/").status_code == 404
    client.force_login(second)
    page = client.post(url + "identify/", {"name": "赵", "capacity": "甲方", "agrees": "on"})
    assert page.status_code == 400
    client.force_login(act.reviewer)
    page = client.post(url + "identify/", {"capacity": "甲方"})
    assert page.status_code == 400
    client.post(url + "identify/", {"capacity": "甲方", "agrees": "on"})
    assert "r***@firm.example" in client.get(url + "signing/").content.decode()
    answer = client.post(url + "sign/", {"code": "00000x", "mark": "typed", "confirmed": "on"})
    assert answer.status_code == 400
    answer = client.post(url + "decline/", {"reason": "缺少用户手册"})
    assert answer.status_code == 302
    assert "缺少用户手册" in client.get(url).content.decode()


def test_the_api_identifies_and_signs(decided, act, client):
    from tests.delivery.review_steps import newest_code

    client.force_login(act.reviewer)
    url = f"/api/v1/reviews/{decided.pk}/"
    refused = client.post(url + "sign/", {"code": "123456"}, content_type="application/json")
    assert (refused.status_code, refused.json()["title"]) == (409, "wrong_state")
    client.post(url + "identify/", {"capacity": "甲方", "agrees": True},
                content_type="application/json")
    answer = client.post(url + "sign/", {"code": newest_code()}, content_type="application/json")
    assert [s["mark"] for s in answer.json()["signatures"]] == ["typed"]


def test_time_is_the_servers(decided, act):
    before = timezone.now()
    assert before <= act.sign(decided).at <= timezone.now()


@pytest.mark.slow
def test_a_turn_is_handed_over_to_a_colleague(panel, act, delivered, client):
    review, second = panel
    third = act.colleague(delivered, "qian")
    for given in ({"user": third, "reason": " "}, {"user": second, "reason": "出差"},
                  {"user": act.manager, "reason": "出差"}):
        with pytest.raises(InvalidInput):
            services.delegate(actor=act.reviewer, review=review, **given)
    client.force_login(act.reviewer)
    url = f"/documents/{review.document_id}/review/delegate/"
    client.post(url, {"user": third.username, "reason": "出差"})
    assert [s.user for s in review.signers.all()] == [third, second]
    assert Notice.objects.filter(recipient=third, event__kind="signature_turn").count() == 1
    with pytest.raises(NotAllowed):
        act.begin(review)
    act.sign(review, third)
    act.sign(review, second)
    assert Document.objects.get(pk=review.document_id).state == "signed"


@pytest.mark.slow
def test_capacities_go_over_to_the_next_version_and_kind(decided, act):
    services.name_signers(actor=act.manager, review=decided, users=[act.reviewer],
                          capacities=["信息中心主任"])
    assert act.sign(decided, code=act.begin(decided, capacity="")).capacity == "信息中心主任"
    again = services.open_review(actor=act.manager, document=replaced(decided, act))
    assert [s.capacity for s in again.signers.all()] == ["信息中心主任"]


@pytest.mark.slow
def test_the_audit_certificate_names_wrong_codes_and_who_opened_the_document(decided, act, client):
    code = act.begin(decided)
    with pytest.raises(InvalidInput):
        services.sign(actor=act.reviewer, review=decided, code="x", ip_address="10.1.2.3")
    client.force_login(act.reviewer)
    file = decided.document.files.filter(format="pdf").first()
    client.get(f"/documents/files/{file.pk}/pages/1.png")
    act.sign(decided, code=code)
    events = [(row["action"], row["ip"]) for row in signed_facts(decided)["events"]]
    assert ("review.wrong_code", "10.1.2.3") in events
    assert ("document.sign", "10.1.2.3") in events
    assert [action for action, _ip in events].count("file.download") == 1
