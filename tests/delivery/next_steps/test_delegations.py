"""While somebody is away a colleague does, in their own name, what waits for them by name."""

from datetime import timedelta

import pytest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.documents.bilingual import in_language
from delivery.next_steps.inbox import inbox_items
from delivery.planning.services import control
from delivery.reports import services as reporting
from delivery.reports.facts.common import identity
from delivery.reports.models import Document
from engagements import services
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Delegation, Membership, Role, User
from tests.document_steps import checks

DAY = timedelta(days=1)
LACKS = {"versions": [], "people": [], "theme": {}}


@pytest.fixture
def second(engagement):
    user = User.objects.create_user("wu", role=Role.CONSULTANT, full_name="吴晨")
    Membership.objects.create(engagement=engagement, user=user, role=Role.CONSULTANT)
    return user


def delegated(people, second, **given) -> Delegation:
    today = timezone.localdate()
    return services.delegate_duties(**{"actor": people[Role.CONSULTANT], "delegate": second,
                                       "starts_on": today, "ends_on": today + DAY, **given})


def titles(user) -> set[str]:
    return {(item.kind, item.title) for item in inbox_items(User.objects.get(pk=user.pk))}


@pytest.mark.slow
def test_turns_and_to_dos_go_to_the_delegate_and_back(people, engagement, second):
    manager, absent = people[Role.MANAGER], people[Role.CONSULTANT]
    todo = control.add_todo(actor=manager, engagement=engagement, text="备份权重", owner=absent,
                            due_on=timezone.localdate() + 9 * DAY)
    document = reporting.draft_test_report(actor=manager, engagement=engagement)
    with checks(False):
        reporting.submit_document(actor=manager, document=document)
    document.turns.filter(action="review").update(holder=absent)
    document = Document.objects.get(pk=document.pk)
    assert ("document", str(document)) in titles(absent)
    with pytest.raises(NotAllowed):
        control.finish_todo(actor=second, todo=todo)
    made = delegated(people, second)
    with override("en"):
        assert titles(second) == {("document", f"{document} (for Consultant)"),
                                  ("todo", f"{todo} (for Consultant)")}
    services.end_delegation(actor=absent, delegation=made)
    assert titles(second) == set()
    delegated(people, second)
    second = User.objects.get(pk=second.pk)
    control.finish_todo(actor=second, todo=todo)
    reporting.review_document(actor=second, document=document)
    turn = document.turns.get(action="review")
    assert (turn.holder, turn.done_by) == (absent, second)
    document.turns.filter(action="approve").update(holder=absent)
    signed = identity(Document.objects.get(pk=document.pk), timezone.now(), second)
    for language, name in (("zh-hans", "吴晨（代Consultant）"), ("en", "吴晨 (for Consultant)")):
        shown = in_language(signed, language)
        assert [row["name"] for row in shown["signoffs"]] == [name, name]
        assert shown["approved_by"]["name"] == name
        page = render_to_string("documents/parts/history.html", {**shown, **LACKS})
        assert page.count(name) == 3


def test_days_that_are_over_or_to_come_delegate_nothing(people, second):
    today = timezone.localdate()
    delegated(people, second)
    for first, last, found in ((1, 2, False), (-2, -1, False), (0, 0, True), (-3, 4, True)):
        Delegation.objects.update(starts_on=today + first * DAY, ends_on=today + last * DAY)
        assert bool(User.objects.get(pk=second.pk).stands_in_for) == found


def test_nobody_delegates_for_others_to_oneself_or_out_of_the_firm(people, second):
    today = timezone.localdate()
    for given in ({"delegate": people[Role.CONSULTANT]}, {"delegate": people[Role.REVIEWER]},
                  {"ends_on": today - DAY}, {"starts_on": today + 9 * DAY}):
        with pytest.raises(InvalidInput):
            delegated(people, second, **given)
    with pytest.raises(NotAllowed):
        delegated(people, second, actor=second, user=people[Role.CONSULTANT])
    made = delegated(people, second, actor=people[Role.ADMINISTRATOR],
                     user=people[Role.CONSULTANT])
    with pytest.raises(InvalidInput):  # who is away stands in for nobody
        services.delegate_duties(actor=people[Role.MANAGER], delegate=people[Role.CONSULTANT],
                                 starts_on=today, ends_on=today)
    with pytest.raises(NotAllowed):
        services.end_delegation(actor=second, delegation=made)
    services.end_delegation(actor=people[Role.CONSULTANT], delegation=made)
    with pytest.raises(WrongState):
        services.end_delegation(actor=people[Role.CONSULTANT], delegation=made)


def test_page_and_api(client, people, second, api):
    today = timezone.localdate()
    client.force_login(people[Role.CONSULTANT])
    page = reverse("people:delegations")
    given = {"delegate": second.pk, "starts_on": today, "ends_on": today}
    assert client.post(page, {**given, "delegate": ""}).status_code == 400
    assert client.post(page, given).status_code == 302
    assert "吴晨" in client.get(page).content.decode()
    [row] = api(Role.CONSULTANT).get("/api/v1/delegations/").json()["results"]
    assert (row["user"], row["delegate"]) == (people[Role.CONSULTANT].username, "wu")
    assert api(Role.MANAGER).get("/api/v1/delegations/").json()["results"] == []
    client.post(reverse("people:delegation_end", args=[row["id"]]))
    assert Delegation.objects.get().ended_at
