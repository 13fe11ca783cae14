"""Commands in documents: no word is cut, a script within is named and listed once."""

import hashlib
import io

import openpyxl
import pytest
from django.utils.translation import override

from delivery.reports import services
from delivery.reports.command_words import shown_command
from delivery.reports.office.writers import annex_xlsx
from engagements.models import Role
from workers.models import Job

pytestmark = pytest.mark.django_db
SCRIPT = "import sys\nprint(sys.argv)\n"
DIGEST = hashlib.sha256(SCRIPT.encode()).hexdigest()


def test_every_word_is_printed_and_a_script_by_what_identifies_it():
    with override("en"):
        assert shown_command(["torchrun", "train it.py", "--seed", "1"]) == (
            "torchrun 'train it.py' --seed 1")
        assert shown_command(["python3", "-c", SCRIPT, "smoke"]) == (
            f"python3 -c <script of 3 lines, SHA-256 {DIGEST[:12]}…> smoke")


@pytest.mark.slow
def test_the_annex_has_each_script_once_with_its_runs(delivered, people):
    first, second, _failed = delivered.jobs.order_by("pk")
    Job.objects.filter(pk__in=[first.pk, second.pk]).update(command=["python3", "-c", SCRIPT])
    snapshot = services.draft_test_report(
        actor=people[Role.MANAGER], engagement=delivered).snapshot
    book = openpyxl.load_workbook(io.BytesIO(annex_xlsx(snapshot, "en")))
    cells = [str(cell.value) for sheet in book.worksheets for row in sheet.iter_rows()
             for cell in row]
    assert cells.count(SCRIPT) == 1
    assert (DIGEST in cells, f"#{first.pk}, #{second.pk}" in cells) == (True, True)
