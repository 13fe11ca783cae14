"""Comments on stages: from the matrix, in the stage's history, and by the API."""

import pytest
from django.urls import reverse

from engagements import services
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role, StageComment
from engagements.stages import Stage

TEXT = "算子 <b> 缺失，先换实现"


@pytest.fixture
def record(people, engagement):
    model = services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                               name="x")
    return model.stages.get(stage=Stage.SURVEY)


def _place(engagement, name="engagements:stage_comments"):
    return reverse(name, args=[engagement.code, "LLM", Stage.SURVEY])


def test_a_comment_is_written_in_place(client, people, engagement, record):
    consultant = people[Role.CONSULTANT]
    client.force_login(consultant)
    services.comment_on_stage(actor=people[Role.MANAGER], record=record, text="earlier")
    answer = client.post(_place(engagement), {"text": TEXT},
                         headers={"HX-Request": "true", "HX-Target": "cell-menu"})
    mark = f'title="{consultant}：算子 &lt;b&gt; 缺失，先换实现"'
    fragment = answer.content.decode()
    assert (answer.status_code, "<html" in fragment) == (200, False)
    for part in ('hx-swap-oob="true"', mark, "earlier"):
        assert part in fragment
    page = client.get(reverse("engagements:engagement", args=[engagement.code])).content.decode()
    assert (page.count(mark), page.count("has-comment"), "earlier" in page) == (1, 1, False)
    history = client.get(_place(engagement, "engagements:stage")).content.decode()
    assert history.index("算子 &lt;b&gt;") < history.index("earlier")
    entry = AuditEntry.objects.filter(action="stage.comment").latest("pk")
    assert (entry.actor, entry.data) == (consultant, {"comment": TEXT})
    assert (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])


def test_without_script_the_stage_follows(client, people, engagement, record):
    client.force_login(people[Role.CONSULTANT])
    assert b"<html" in client.get(_place(engagement)).content
    answer = client.post(_place(engagement), {"text": TEXT})
    assert answer.headers["Location"] == _place(engagement, "engagements:stage")


def test_an_empty_or_long_text_is_refused(client, people, engagement, record):
    client.force_login(people[Role.CONSULTANT])
    for text in (" ", "x" * 2001):
        client.post(_place(engagement), {"text": text}, headers={"HX-Request": "true"})
        with pytest.raises(InvalidInput):
            services.comment_on_stage(actor=people[Role.CONSULTANT], record=record, text=text)
    assert not StageComment.objects.exists()


def test_customers_neither_read_nor_write_them(client, people, engagement, record, stranger):
    services.comment_on_stage(actor=people[Role.MANAGER], record=record, text="internal remark")
    reviewer = people[Role.REVIEWER]
    with pytest.raises(NotAllowed):
        services.comment_on_stage(actor=reviewer, record=record, text="x")
    client.force_login(reviewer)
    pages = [reverse("engagements:engagement", args=[engagement.code]),
             _place(engagement, "engagements:stage"), f"/api/v1/stages/{record.pk}/"]
    for page in pages:
        answer = client.get(page)
        assert answer.status_code == 200
        assert b"internal remark" not in answer.content
    assert client.get(f"/api/v1/stages/{record.pk}/comments/").status_code == 403
    client.force_login(stranger)
    assert client.post(_place(engagement), {"text": "x"}).status_code == 404
    assert StageComment.objects.count() == 1


def test_the_api_comments(client, people, engagement, record, stranger):
    url = f"/api/v1/stages/{record.pk}/comments/"
    client.force_login(stranger)
    assert client.post(url, {"text": "x"}, content_type="application/json").status_code == 404
    client.force_login(people[Role.CONSULTANT])
    made = client.post(url, {"text": TEXT}, content_type="application/json")
    assert made.status_code == 201
    assert client.get(url).json()["results"] == [made.json()]
    assert made.json()["author"] == people[Role.CONSULTANT].pk


def test_selected_stages_are_commented_on_in_the_matrix(client, people, engagement, record):
    client.force_login(people[Role.CONSULTANT])
    place = reverse("engagements:comment", args=[engagement.code])
    others = [record.pk, record.model.stages.get(stage=Stage.DESIGN).pk]
    client.post(place, {"record": others, "comment": " "})
    client.post(place, {"record": [], "comment": TEXT})
    assert not StageComment.objects.exists()
    answer = client.post(place, {"record": others, "comment": TEXT}, follow=True)
    assert answer.content.decode().count("has-comment") == 2
    client.force_login(people[Role.REVIEWER])
    client.post(place, {"record": others, "comment": TEXT})
    assert StageComment.objects.count() == 2
