"""Endpoints of the search box and the audit log: what the pages show, to whom they show it."""

from engagements.audit import audit_log
from engagements.models import AuditEntry, Role


def test_search(api, outside, people, engagement):
    hit = api(Role.REVIEWER).get("/api/v1/search/?q=ep2501").json()[0]
    assert (hit["sort"], hit["url"], hit["state"]) == (
        "Engagements", "/engagements/EP2501/", engagement.state)
    assert [row["url"] for row in api(Role.REVIEWER).get("/api/v1/search/").json()] == [hit["url"]]
    assert outside.get("/api/v1/search/?q=EP2501").json() == []


def test_the_audit_log(api, people, engagement):
    for n in range(2):
        audit_log.record(actor=people[Role.MANAGER], action="engagement.update", target=engagement,
                         engagement=engagement, data={"n": n})
    for role in (Role.CONSULTANT, Role.SALES, Role.OPERATOR, Role.REVIEWER):
        assert api(role).get("/api/v1/audit-entries/").status_code == 403
        assert api(role).get("/api/v1/audit-entries/check/").status_code == 403
    manager = api(Role.MANAGER)
    found = manager.get("/api/v1/audit-entries/?action=engagement.update").json()
    assert [row["data"] for row in found["results"]] == [{"n": 1}, {"n": 0}]
    assert manager.get("/api/v1/audit-entries/?action=none").json()["count"] == 0
    assert manager.get("/api/v1/audit-entries/check/").json() == {
        "is_intact": True, "after": 0, "entry": None, "problem": ""}
    first = AuditEntry.objects.last()
    AuditEntry.objects.filter(pk=first.pk).update(data={"n": 9})
    assert manager.get("/api/v1/audit-entries/check/").json() == {
        "is_intact": False, "after": 0, "entry": first.pk, "problem": "changed"}
