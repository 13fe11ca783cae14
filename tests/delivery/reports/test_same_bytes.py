"""The same snapshot is the same file: in another process, on another day, in another place."""

import pytest

from delivery.documents.services.branding import save_branding
from delivery.reports import registry, services
from engagements.models import Role
from tests.delivery.reports.rendering_elsewhere import same_everywhere

pytestmark = pytest.mark.slow


def issued_facts(engagement, people, kind: str) -> dict:
    """The snapshot of a draft under a number, as it is frozen at issuing."""
    draft = services.draft_document(actor=people[Role.ADMINISTRATOR], engagement=engagement,
                                    kind=kind)
    return {**draft.snapshot, "number": f"{kind}-EP2501-20250625-001", "is_draft": False}


def compared(engagement, people, folder, kinds: list[str]) -> dict[str, str]:
    return same_everywhere(folder, [("document", issued_facts(engagement, people, kind))
                                    for kind in kinds])


def test_a_criteria_sheet_is_the_same_everywhere(delivered, people, tmp_path):
    """PDF and workbook in both languages; all kinds are compared in the slow tests."""
    assert set(compared(delivered, people, tmp_path, ["AC"])) == {
        f"AC {language} {form}" for language in ("zh-hans", "en") for form in ("pdf", "xlsx")}


@pytest.mark.slow
def test_every_file_of_every_kind_is_the_same_everywhere(delivered, people, tmp_path):
    save_branding(actor=people[Role.ADMINISTRATOR], customer=delivered.customer,
                  colour="#0a5c36", cover="band", header_zh="某单位")
    kinds = [kind.code for kind in registry.all_kinds()]
    found = compared(delivered, people, tmp_path, kinds)
    assert {name.split()[2] for name in found} == {"pdf", "xlsx", "docx"}
    assert len(found) == sum(2 * len(registry.get(kind).formats) for kind in kinds)
    assert len(set(found.values())) == len(found)
