"""The same snapshot is the same file: in another process, on another day, in another place."""

import pytest

from delivery.documents.services.branding import save_branding
from delivery.reports import registry, services
from engagements.models import Role
from tests.delivery.reports.rendering_elsewhere import same_everywhere
from tests.delivery.reports.test_kinds import CODES, fewest_kinds

pytestmark = pytest.mark.slow


def issued_facts(engagement, people, kind: str) -> dict:
    """The snapshot of a draft under a number, as it is frozen at issuing."""
    draft = services.draft_document(actor=people[Role.ADMINISTRATOR], engagement=engagement,
                                    kind=kind)
    return {**draft.snapshot, "number": f"{kind}-EP2501-20250625-001", "is_draft": False}


@pytest.mark.parametrize("kinds", [
    fewest_kinds(), pytest.param(CODES, marks=pytest.mark.everything)], ids=["fewest", "all"])
def test_every_file_of_a_kind_is_the_same_everywhere(delivered, people, tmp_path, kinds):
    save_branding(actor=people[Role.ADMINISTRATOR], customer=delivered.customer,
                  colour="#0a5c36", cover="band", header_zh="某单位")
    found = same_everywhere(tmp_path, [("document", issued_facts(delivered, people, kind))
                                       for kind in kinds])
    assert {name.split()[2] for name in found} == {"pdf", "xlsx", "docx"}
    assert len(found) == sum(2 * len(registry.get(kind).formats) for kind in kinds)
    assert len(set(found.values())) == len(found)
