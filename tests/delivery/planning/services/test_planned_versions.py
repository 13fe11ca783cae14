"""The planned environment: recorded by people who work, said again in the audit log."""

import pytest

from delivery.planning.services.planned_versions import set_planned_versions
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role


def planned(engagement) -> dict[str, str]:
    return dict(engagement.planned_versions.values_list("item", "value"))


def test_values_are_set_changed_and_taken_back_with_one_entry_each(people, engagement):
    def plan(**versions):
        set_planned_versions(actor=people[Role.CONSULTANT], engagement=engagement,
                             versions=versions)

    plan(cann=" 8.0.RC3 ", driver="24.1.rc3", python="")
    assert planned(engagement) == {"cann": "8.0.RC3", "driver": "24.1.rc3"}
    plan(cann="8.0.RC3")  # nothing new
    plan(cann="8.1.RC1", driver="")
    assert planned(engagement) == {"cann": "8.1.RC1"}
    entries = AuditEntry.objects.filter(action="planned_versions.set").order_by("pk")
    assert [entry.data["changed"] for entry in entries] == [
        {"cann": ["", "8.0.RC3"], "driver": ["", "24.1.rc3"]},
        {"cann": ["8.0.RC3", "8.1.RC1"], "driver": ["24.1.rc3", ""]}]


@pytest.mark.parametrize(("versions", "error"), [
    ({"colour": "red"}, InvalidInput), ({"cann": "x" * 121}, InvalidInput)])
def test_what_is_no_item_or_too_long_is_refused_as_a_whole(people, engagement, versions, error):
    with pytest.raises(error):
        set_planned_versions(actor=people[Role.MANAGER], engagement=engagement,
                             versions={"driver": "1", **versions})
    assert planned(engagement) == {}


def test_who_may_plan(people, engagement, client):
    with pytest.raises(NotAllowed):
        set_planned_versions(actor=people[Role.REVIEWER], engagement=engagement,
                             versions={"cann": "8.0"})
    client.force_login(people[Role.CONSULTANT])
    page = f"/engagements/{engagement.code}/plan/versions/"
    assert client.post(page, {"cann": "8.0.RC3"}).status_code == 302
    assert b'value="8.0.RC3"' in client.get(page).content
    made = client.post("/api/v1/planned-versions/", {
        "engagement": engagement.pk, "item": "driver", "value": "24.1.rc3"})
    assert (made.status_code, planned(engagement)) == (201, {"cann": "8.0.RC3",
                                                             "driver": "24.1.rc3"})
    client.delete(f"/api/v1/planned-versions/{made.json()['id']}/")
    assert planned(engagement) == {"cann": "8.0.RC3"}
