"""One table: every page route, every role, the expected status. A missing route fails."""

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from assessments.services import load_standard_definitions
from delivery.quotes import services as quotes
from delivery.reports.services import draft_test_report
from engagements import services
from engagements.models import Role

OURS = ("portal", "engagements", "workers", "assessments", "quotes", "reports", "acceptance")
ADMIN, MANAGER, CONSULTANT, SALES, OPERATOR, REVIEWER = Role.values
EVERYBODY = frozenset(Role.values)
FIRM = EVERYBODY - {REVIEWER}
MANAGERS = frozenset({ADMIN, MANAGER})
WORKERS = frozenset({ADMIN, MANAGER, CONSULTANT})

# Routes that answer GET: who gets 200. Everybody else gets 403 or 404.
READ = {
    "portal:home": EVERYBODY, "portal:audit": MANAGERS,
    "engagements:list": EVERYBODY, "engagements:new": MANAGERS,
    "engagements:engagement": EVERYBODY, "engagements:edit": MANAGERS, "engagements:team": FIRM,
    "engagements:model_new": MANAGERS, "engagements:stage": EVERYBODY,
    "workers:nodes": FIRM, "workers:node_new": frozenset({ADMIN, OPERATOR}), "workers:node": FIRM,
    "workers:jobs": FIRM, "workers:job": EVERYBODY, "workers:job_log": EVERYBODY,
    "workers:job_new": frozenset({ADMIN, OPERATOR}),
    "workers:artifact": EVERYBODY, "workers:artifact_download": EVERYBODY,
    "workers:artifact_upload": WORKERS,
    "assessments:criteria": EVERYBODY, "assessments:criterion_new": MANAGERS,
    "assessments:baseline_new": WORKERS, "assessments:definitions": EVERYBODY,
    "assessments:definition": EVERYBODY, "assessments:criterion": EVERYBODY,
    "quotes:list": EVERYBODY, "quotes:rate_cards": FIRM, "quotes:engagement": EVERYBODY,
    "quotes:quote": FIRM, "quotes:terms": frozenset({ADMIN, MANAGER, SALES}),
    "quotes:pdf": FIRM, "quotes:xlsx": FIRM,
    "reports:list": EVERYBODY, "reports:engagement": EVERYBODY, "reports:document": FIRM,
}
# Routes that only take POST; their services are tested for permissions elsewhere.
WRITE = {
    "engagements:member_remove", "engagements:stage_move", "engagements:item_tick",
    "workers:node_confirm", "workers:node_refetch", "workers:node_maintenance",
    "workers:node_check", "workers:job_cancel", "workers:job_retry",
    "assessments:criteria_draft", "assessments:criteria_sign", "assessments:criteria_judge",
    "assessments:criterion_judge", "assessments:criterion_measure",
    "assessments:criterion_remove", "quotes:new", "quotes:line_add", "quotes:resources_add",
    "quotes:line_remove", "quotes:version_new", "quotes:move",
    "reports:draft", "reports:issue", "reports:refresh", "reports:discard", "reports:correct",
    "acceptance:open", "acceptance:comment", "acceptance:decide", "acceptance:sign",
    "acceptance:bundle_build",
}
# Charts and files of issued documents: they need measured or issued things, and are tested
# with them, role by role, in tests/assessments and tests/delivery.
TESTED_WITH_THEIR_OBJECTS = {
    "assessments:curve_spec", "assessments:curve_svg", "reports:preview", "reports:file",
    "acceptance:review", "acceptance:bundle",
}


def routes(resolver=None, namespace="") -> set[str]:
    """Names of all routes of our namespaces."""
    found = set()
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            found |= routes(entry, entry.namespace or namespace)
        elif isinstance(entry, URLPattern) and entry.name and namespace in OURS:
            found.add(f"{namespace}:{entry.name}")
    return found


def test_every_route_stands_in_the_table():
    assert routes() == set(READ) | WRITE | TESTED_WITH_THEIR_OBJECTS


@pytest.fixture
def world(people, engagement, settings, tmp_path):
    """An engagement with one of everything, and the arguments of every route."""
    from django.core.files.base import ContentFile

    from workers.artifacts import store_file
    from workers.models import Job, Node

    load_standard_definitions()
    quotes.load_rate_cards(actor=people[ADMIN])
    model = services.add_model(actor=people[MANAGER], engagement=engagement, code="LLM",
                               name="模型")
    node = Node.objects.create(name="n1", host="127.0.0.1", port=22, username="x")
    job = Job.objects.create(kind="env.npu_info", engagement=engagement, model=model, node=node)
    artifact = store_file(stream=ContentFile(b"x"), name="a.txt", engagement=engagement)
    quote = quotes.create_quote(actor=people[SALES], engagement=engagement)
    from assessments.models import MetricDefinition
    from assessments.services import add_criterion, draft_criteria

    draft = draft_criteria(actor=people[MANAGER], engagement=engagement)
    definition = MetricDefinition.objects.get(code="latency")
    criterion = add_criterion(actor=people[MANAGER], criteria_set=draft, model=model,
                              definition=definition, stage="infer_tune", threshold=10)
    document = draft_test_report(actor=people[MANAGER], engagement=engagement)
    code = engagement.code
    return {
        "reports:engagement": [code], "reports:document": [document.pk],
        "engagements:engagement": [code], "engagements:edit": [code], "engagements:team": [code],
        "engagements:model_new": [code], "engagements:stage": [code, "LLM", "survey"],
        "workers:node": [node.pk], "workers:job": [job.pk], "workers:job_log": [job.pk],
        "workers:artifact": [artifact.pk], "workers:artifact_download": [artifact.pk],
        "assessments:criteria": [code], "assessments:criterion_new": [code],
        "assessments:baseline_new": [code], "assessments:definition": [definition.pk],
        "assessments:criterion": [criterion.pk], "quotes:engagement": [code],
        "quotes:quote": [quote.pk], "quotes:terms": [quote.pk],
        "quotes:pdf": [quote.pk, "en"], "quotes:xlsx": [quote.pk, "zh-hans"],
    }


QUERY = {"workers:artifact_upload": "?engagement=EP2501"}
OF_AN_ENGAGEMENT = (
    "engagements:engagement", "engagements:edit", "engagements:team", "engagements:model_new",
    "engagements:stage", "workers:job", "workers:job_log", "workers:artifact",
    "workers:artifact_download", "assessments:criteria", "assessments:criterion",
    "assessments:criterion_new", "assessments:baseline_new", "quotes:engagement", "quotes:quote",
    "quotes:terms", "quotes:pdf", "quotes:xlsx", "reports:engagement", "reports:document",
)


def test_roles_and_pages(client, people, world):
    wrong = []
    for role, user in people.items():
        client.force_login(user)
        for name, allowed in READ.items():
            url = reverse(name, args=world.get(name, [])) + QUERY.get(name, "")
            status = client.get(url).status_code
            if (status == 200) != (role in allowed) or status not in (200, 403, 404):
                wrong.append((role, name, status))
    assert wrong == []


def test_stranger_gets_404(client, stranger, world):
    client.force_login(stranger)
    statuses = {name: client.get(reverse(name, args=world[name])).status_code
                for name in OF_AN_ENGAGEMENT}
    assert statuses == dict.fromkeys(OF_AN_ENGAGEMENT, 404)


def test_without_login_every_page_leads_to_the_login(client, world):
    for name in READ:
        answer = client.get(reverse(name, args=world.get(name, [])))
        assert (name, answer.status_code, answer.url.startswith("/login/")) == (name, 302, True)


def test_get_never_writes(client, people, world):
    from engagements.models import AuditEntry

    client.force_login(people[ADMIN])
    before = AuditEntry.objects.count()
    for name in READ:
        client.get(reverse(name, args=world.get(name, [])) + QUERY.get(name, ""))
    assert AuditEntry.objects.count() == before
