"""What stays within the firm reaches no customer: not by the API, not by a page, not in a file."""

import io
import re
import zipfile
from decimal import Decimal

import pytest
from django.core import mail
from django.db.models import CharField, Value
from django.db.models.functions import Concat
from django.urls import URLResolver, get_resolver, reverse
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.acceptance.services import open_review
from delivery.api import _router
from delivery.documents.pdf import html_of
from delivery.evidence.services import build_bundle
from delivery.notices.models import Dispatch
from delivery.notices.transport.send_dispatches import send_mail_to
from delivery.planning.models import Risk
from delivery.quotes import rendering as quote_rendering
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine, Quote, QuoteLine
from delivery.quotes.xlsx.workbook import quote_xlsx
from delivery.reports import registry, rendering
from delivery.reports import services as reporting
from engagements.models import Membership, Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.reports.test_kinds import CODES, drafted
from tests.document_steps import issued_document, reviewed_document
from workers.logs import live_log
from workers.models import Job, Node

SECRET = "SECRET"
COST = Decimal("98765.43")
LANGUAGES = ("zh-hans", "en")
FILES = {"workers:artifact_download", "workers:job_archive"}  # evidence, whole with its checksums


@pytest.fixture
@cached_fixture
def shown(planned, people):
    """An engagement whose internal fields all hold a word that no customer may read."""
    sales = people[Role.SALES]
    Membership.objects.get_or_create(engagement=planned, user=people[Role.OPERATOR],
                                     defaults={"role": Role.OPERATOR})
    people[Role.OPERATOR].full_name = f"{SECRET} operator"
    people[Role.OPERATOR].save()
    Job.objects.filter(engagement=planned).update(
        command=["sh", "-c", f"echo {SECRET} command; exec npu-smi \"$@\"", "npu-smi", "info"],
        parameters={"a": f"{SECRET} parameter"},
        results={"preflight": {"checked": 1, "hits": [{
            "rule": "R-X-01", "severity": "warn", "value": f"{SECRET} hit", "place": "env"}]}},
        technical_cause=f"{SECRET} cause")
    Risk.objects.filter(engagement=planned).update(is_internal=True, title=f"{SECRET} risk")
    quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])
    quote = quoting.create_quote(actor=sales, engagement=planned)
    quoting.add_line(actor=sales, quote=quote, price=PriceLine.objects.get(code="S-TRAIN"),
                     quantity=Decimal(3))
    QuoteLine.objects.update(unit_cost=COST)
    quote.refresh_from_db()
    quoting.update_quote(actor=sales, quote=quote, discount_rate=Decimal("0.05"),
                         discount_reason=f"{SECRET} reason", source_note=f"{SECRET} source",
                         internal_note=f"{SECRET} note")
    Quote.objects.update(state="issued", issued_at=planned.created_at)
    return planned


@pytest.fixture
def placed(shown):
    """The same, run on nodes whose names and folders no customer may read."""
    Node.objects.update(name=Concat(Value("SECRET-node-"), "pk", output_field=CharField()),
                        host="SECRET-host.example")
    Job.objects.filter(engagement=shown).update(
        message="%(node)s: %(path)s does not exist.",
        message_values={"node": f"SECRET-node-{Node.objects.first().pk}",
                        "path": "/home/SECRET-user/data/train.json"})
    for job in Job.objects.filter(engagement=shown):
        text = (f"{job.node} at SECRET-host.example.\nRuntimeError: /home/SECRET-user/a.py, "
                "line 3; ~/SECRET-folder/run.sh\n").encode()
        live_log.path(job).parent.mkdir(parents=True, exist_ok=True)
        live_log.path(job).write_bytes(text)
        Job.objects.filter(pk=job.pk).update(log_stored=len(text))
    return shown


def texts_of(content: bytes) -> str:
    """The words of an office file."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return " ".join(packed.read(name).decode() for name in packed.namelist()
                        if name.endswith(".xml"))


def leaks(text: str) -> list[str]:
    return re.findall(f"{SECRET}[ -]\\w+|{COST}", text)


def test_the_api_shows_a_reviewer_nothing_of_it(placed, people, monkeypatch):
    shown = placed
    monkeypatch.setattr("delivery.reports.rendering.render_document", lambda *a, **k: b"%PDF")
    draft = reporting.draft_test_report(actor=people[Role.MANAGER], engagement=shown)
    reporting.issue_document(actor=people[Role.ADMINISTRATOR],
                             document=reviewed_document(draft, people))
    client, found, seen = APIClient(headers={"accept-language": "en"}), {}, 0
    client.force_authenticate(people[Role.REVIEWER])
    for prefix, _viewset, _name in _router().registry:
        listed = client.get(f"/api/v1/{prefix}/")
        rows = listed.json() if listed.status_code == 200 else []
        rows = rows.get("results", []) if isinstance(rows, dict) else rows
        answers = [listed, *(client.get(f"/api/v1/{prefix}/{row['id']}/") for row in rows[:20]
                             if isinstance(row, dict) and "id" in row)]
        if prefix == "jobs":
            answers += [client.get(f"/api/v1/jobs/{rows[0]['id']}/{part}")
                        for part in ("log/", "log/search/?q=RuntimeError")]
            assert [answer.json()[name] for answer, name in zip(
                answers[-2:], ("text", "line"), strict=True)] == [
                "a node at a node.\nRuntimeError: …/a.py, line 3; …/run.sh\n",
                "RuntimeError: …/a.py, line 3; …/run.sh"]
        seen += sum(answer.status_code == 200 for answer in answers)
        hits = {hit for answer in answers for hit in leaks(answer.content.decode())}
        if prefix == "documents":  # what was issued to the customer names nodes: it is evidence
            hits = {hit for hit in hits if "-" not in hit}
        if hits:
            found[prefix] = hits
    assert found == {}
    assert seen > 40


def pages(prefix: str = "", patterns=None) -> list[str]:
    """Names of all addresses that a page of the portal has, with the API left out."""
    found = []
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        if isinstance(entry, URLResolver):
            if not str(entry.pattern).startswith("api/"):
                name = f"{prefix}{entry.namespace}:" if entry.namespace else prefix
                found += pages(name, entry.url_patterns)
        elif entry.name:
            found.append((f"{prefix}{entry.name}", set(entry.pattern.regex.groupindex)))
    return found


@pytest.mark.slow
def test_no_page_shows_it_to_a_reviewer(placed, people, client):
    """Every page of the portal, of the engagement and of its first rows of each kind."""
    client.force_login(people[Role.REVIEWER])
    shown = placed
    keys = {Quote.objects.get().pk, Risk.objects.first().pk, *shown.jobs.values_list(
        "pk", flat=True)[:2], *shown.models.values_list("pk", flat=True)[:1]}
    found, seen = {}, set()
    for name, wanted in pages():
        if wanted == {"code"}:
            tried = [{"code": shown.code}]
        elif wanted == {"pk"}:
            tried = [{"pk": key} for key in sorted(keys)]
        elif not wanted:
            tried = [{}]
        else:
            continue
        for arguments in tried:
            answer = client.get(reverse(name, kwargs=arguments))
            if answer.status_code == 200 and name not in FILES:
                seen.add(name)
                content = b"".join(answer) if answer.streaming else answer.content
                if leaked := leaks(content.decode("utf-8", "replace")):
                    found[answer.request["PATH_INFO"]] = leaked
    assert found == {}
    assert {"engagements:engagement", "quotes:quote", "planning:plan", "assessments:criteria",
            "surveys:overview", "reports:engagement", "workers:job", "workers:job_log"} <= seen
    assert len(seen) > 45


@pytest.mark.slow
def test_no_document_prints_it(shown, people):
    found = {}
    for code in CODES:
        snapshot = drafted(shown, people, code).snapshot
        for language in LANGUAGES:
            html = html_of(rendering.TEMPLATE, rendering.context_of(snapshot, language), language)
            files = [texts_of(write(snapshot, language))
                     for write in registry.get(code).writers.values()]
            if hits := {hit for text in (html, str(snapshot), *files) for hit in leaks(text)}:
                found[code, language] = hits
    assert found == {}


def test_no_mail_and_no_bundle_carries_it(shown, people, monkeypatch):
    """Of a document before the customer: what the reviewer is mailed, and the evidence with it."""
    reviewer, manager = people[Role.REVIEWER], people[Role.MANAGER]
    reviewer.email = "reviewer@customer.example"
    reviewer.save()
    monkeypatch.setattr("delivery.reports.rendering.render_document", lambda *a, **k: b"%PDF")
    document = issued_document(drafted(shown, people, "FA"), people)
    bundle = build_bundle(actor=manager, engagement=shown, document=document)
    open_review(actor=manager, document=document)
    Dispatch.objects.update(due_at=timezone.now())
    send_mail_to(reviewer.pk)
    texts = [message.subject + message.body for message in mail.outbox if
             message.to == [reviewer.email]]
    assert texts
    with bundle.file.open("rb") as file, zipfile.ZipFile(file) as packed:
        names = packed.namelist()
        texts += [packed.read(name).decode("utf-8", "replace") for name in names]
    assert len(names) > 3
    assert {hit for text in texts for hit in leaks(text)} == set()


def test_no_quote_prints_it(shown, monkeypatch):
    monkeypatch.setattr(quote_rendering, "render_pdf", html_of)
    quote = Quote.objects.get()
    for language in LANGUAGES:
        assert leaks(quote_rendering.quote_pdf(quote, language)) == []
        assert leaks(texts_of(quote_xlsx(quote, language))) == []


def test_a_filter_that_does_not_exist_is_refused(shown, api):
    for path in ("quotes", "documents", "jobs", "change-requests"):
        answer = api(Role.MANAGER).get(f"/api/v1/{path}/?colour=red")
        assert (answer.status_code, "colour" in str(answer.json())) == (400, True)
        assert api(Role.MANAGER).get(f"/api/v1/{path}/?page=1").status_code == 200
