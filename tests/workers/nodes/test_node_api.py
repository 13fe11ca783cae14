"""Pages and API of nodes, log-ins and the queue: what they show to whom, and never a key."""

import pytest
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from engagements.models import AuditEntry, Membership, Role
from workers.labels import software_names
from workers.logs import live_log, search
from workers.models import CardLease, Job, JobState, Node, Trouble
from workers.services import node_logins

pytestmark = pytest.mark.django_db


@pytest.fixture
def shared(people):
    return Node.objects.create(name="n1", host="127.0.0.1", username="root", state="ready",
                               private_key="secret words", cards_total=8)


@pytest.fixture
def login(shared, people, engagement):
    return node_logins.add_login(actor=people[Role.OPERATOR], node=shared, engagement=engagement,
                                 username="ep2501")


def test_login_by_api_never_shows_a_key(people, shared, engagement):
    import asyncssh

    key = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    api = APIClient()
    api.force_authenticate(people[Role.OPERATOR])
    made = api.post("/api/v1/node-logins/", {
        "node": shared.pk, "engagement": engagement.pk, "username": "u1", "private_key": key})
    path = f"/api/v1/node-logins/{made.json()['id']}/"
    changed = api.patch(path, {"username": "u2"})
    assert (made.status_code, changed.json()["username"]) == (201, "u2")
    assert shared.logins.get().private_key.strip() == key.strip()
    texts = [made.content, changed.content, api.get(path).content,
             api.get(f"/api/v1/nodes/{shared.pk}/").content,
             *(str(data).encode() for data in AuditEntry.objects.values_list("data", flat=True))]
    assert [text for text in texts if b"PRIVATE KEY" in text or b"secret words" in text] == []
    assert api.post(f"{path}withdraw/").json()["withdrawn_at"]
    assert shared.logins.get().private_key == ""


def test_second_login_of_an_engagement_is_refused(people, shared, engagement, login):
    api = APIClient()
    api.force_authenticate(people[Role.OPERATOR])
    answer = api.post("/api/v1/node-logins/", {
        "node": shared.pk, "engagement": engagement.pk, "username": "u1"})
    assert answer.status_code == 400


def test_node_by_api_is_edited_and_drained(people, shared):
    api = APIClient()
    api.force_authenticate(people[Role.OPERATOR])
    path = f"/api/v1/nodes/{shared.pk}/"
    assert api.patch(path, {"labels": "910B", "keep_days": 3}).json()["labels"] == "910B"
    assert api.post(f"{path}maintenance/", {"on": True}).json()["state"] == "maintenance"
    assert api.get(f"{path}contacts/").json() == []
    api.force_authenticate(people[Role.CONSULTANT])
    assert api.patch(path, {"labels": "x"}).status_code == 403


def test_pages_never_show_a_key(client, people, shared, login):
    client.force_login(people[Role.OPERATOR])
    for name, pk in (("node", shared.pk), ("node_edit", shared.pk), ("login_edit", login.pk)):
        answer = client.get(reverse(f"workers:{name}", args=[pk]))
        assert (answer.status_code, b"secret words" in answer.content) == (200, False)


def test_the_node_s_form_folds_what_is_seldom_set_and_shows_what_is_wrong(client, people, shared):
    client.force_login(people[Role.OPERATOR])
    place = reverse("workers:node_edit", args=[shared.pk])

    def is_open(answer) -> list[bool]:
        return [group["is_open"] for group in answer.context["form"].groups()]

    assert is_open(client.get(place)) == [
        True, False, True, *[False] * 8]
    assert is_open(client.post(place, {"bastion_port": "x"})) == [
        True, False, True, *[False] * 7, True]
    names = [field.name for group in client.get(place).context["form"].groups()
             for field in group["fields"]]
    assert sorted(names) == sorted(client.get(place).context["form"].fields)


def test_software_of_a_node_has_names_and_an_order():
    found = software_names.named({"zlib": "1.3", "torch": "2.1.0", "cann": "8.0.RC3", "gcc": ""})
    assert found == [
        ("cann", "CANN", "8.0.RC3"), ("torch", "PyTorch", "2.1.0"), ("zlib", "zlib", "1.3")]


def test_queue_hides_what_belongs_to_others(client, people, shared, engagement, stranger):
    running = Job.objects.create(kind="env.npu_info", engagement=engagement, node=shared,
                                 state=JobState.RUNNING, started_at=timezone.now(), cards_wanted=8)
    waiting = Job.objects.create(kind="env.npu_info", engagement=engagement, node=shared,
                                 cards_wanted=2)
    CardLease.objects.bulk_create(CardLease(node=shared, card_index=n, job=running, fence=1,
                                            taken_at=timezone.now()) for n in range(8))
    path = f"/api/v1/nodes/{shared.pk}/queue/"
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    queue = api.get(path).json()
    assert (queue["free"], [row["job"] for row in queue["running"]]) == (0, [running.pk])
    assert [(row["job"], row["place"], row["expected"] is None)
            for row in queue["waiting"]] == [(waiting.pk, 1, False)]
    api.force_authenticate(stranger)
    assert [row["job"] for row in api.get(path).json()["waiting"]] == [None]
    client.force_login(stranger)
    for name, args in (("queue", []), ("node", [shared.pk])):
        content = client.get(reverse(f"workers:{name}", args=args)).content.decode()
        assert (engagement.code in content, f"/jobs/{running.pk}/" in content) == (False, False)


def test_trouble_is_told_in_a_sentence(client, people, shared):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people[Role.OPERATOR])
    sentences = {Trouble.AWAY: "has not answered for", Trouble.LOGIN: "refused the log-in of root",
                 Trouble.SHELL: "without running our commands"}
    for trouble, sentence in sentences.items():
        Node.objects.update(unreachable_since=timezone.now(), trouble=trouble)
        content = client.get(reverse("workers:node", args=[shared.pk])).content.decode()
        assert sentence in content


def test_only_members_see_the_log_in_of_an_engagement(client, people, engagement, login):
    Membership.objects.filter(user=people[Role.OPERATOR]).delete()
    client.force_login(people[Role.OPERATOR])
    assert client.get(reverse("workers:login_edit", args=[login.pk])).status_code == 404


def test_search_goes_backwards_over_the_edges_of_pieces(monkeypatch):
    monkeypatch.setattr(search, "PIECE", 16)
    monkeypatch.setattr(search, "OVERLAP", 32)
    job = Job(pk=1)
    text = b"first NaN loss\nfinance is fine\nAn Error here\n" + b"x" * 40 + b"\nlast\n"
    live_log.path(job).write_bytes(text)
    job.log_stored = len(text)
    found, before = [], len(text)
    while (hit := search.last_before(job, before, ""))["found"] is not None:
        before = hit["found"]
        found.append((before, hit["line"]))
    assert found == [(text.index(b"An"), "An Error here"), (0, "first NaN loss")]
    assert search.last_before(job, len(text), "FINE")["line"] == "finance is fine"


def test_search_by_the_api(people, engagement, stranger):
    text = b"fine\nAn Error here\nfine\n"
    job = Job.objects.create(kind="env.npu_info", engagement=engagement, log_stored=len(text))
    live_log.path(job).write_bytes(text)
    api, url = APIClient(), f"/api/v1/jobs/{job.pk}/log/search/"
    api.force_authenticate(people[Role.REVIEWER])
    assert api.get(url).json() == {"found": 5, "line": "An Error here", "searched_to": 5}
    assert api.get(url, {"before": 5}).json()["found"] is None
    assert api.get(url, {"q": "FINE"}).json()["found"] == text.rindex(b"fine")
    api.force_authenticate(stranger)
    assert api.get(url).status_code == 404


def test_search_does_a_bounded_part_at_once(monkeypatch):
    monkeypatch.setattr(search, "AT_ONCE", 64)
    monkeypatch.setattr(search, "PIECE", 16)
    job = Job(pk=1)
    live_log.path(job).write_bytes(b"error\n" + b"x\n" * 100)
    job.log_stored = 206
    first = search.last_before(job, 206, "")
    assert (first["found"], first["searched_to"]) == (None, 142)
