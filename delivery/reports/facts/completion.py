"""What a test completion report says beside the verdicts (ISO/IEC/IEEE 29119-3, DOMAIN 10)."""

from collections import Counter

from django.utils.translation import gettext as _

from delivery.reports.bilingual import both
from delivery.reports.evidence import kind_title
from delivery.reports.source import Source
from delivery.reports.tables import column, table


def test_deliverables(source: Source) -> dict:
    """What the tests leave behind: criteria, runs, raw files, the bundle that holds them."""
    criteria, rows = source.criteria, []
    if criteria and criteria.signed_at:
        rows.append([both(lambda: _("Signed acceptance criteria")), f"V{criteria.version}",
                     criteria.criteria.count(), criteria.content_hash])
    rows += [[both(lambda: _("Records of runs")), both(lambda: _("chapter on testing performed")),
              len(source.runs), ""],
             [both(lambda: _("Raw files")), both(lambda: _("annex: evidence manifest")),
              len(source.evidence), both(lambda: _("one per file"))],
             [both(lambda: _("Evidence bundle (zip)")), both(lambda: _("made of this report")), 1,
              both(lambda: _("SHA256SUMS in the bundle"))]]
    return table(lambda: _("Test deliverables"), [
        column(lambda: _("Deliverable")), column(lambda: _("Number or place")),
        column(lambda: _("Quantity"), "number"), column(lambda: _("Checksum"), "hash")], rows)


def reusable_assets(source: Source) -> dict:
    """Kinds of runs that can be repeated from their records, with how often they ran."""
    made, good = (Counter(run["kind"] for run in source.runs if test(run))
                  for test in (lambda run: True, lambda run: run["state"] == "succeeded"))
    judged = Counter(run["kind"] for run in source.runs if run["is_judged"])
    rows = [[both(lambda k=kind: kind_title(k)), count, good[kind], judged[kind]]
            for kind, count in made.items()]
    return table(lambda: _("Runs that can be repeated from their records"), [
        column(lambda: _("Kind of run")), column(lambda: _("Runs"), "number"),
        column(lambda: _("Succeeded"), "number"), column(lambda: _("Judged"), "number")], rows,
        empty=lambda: _("No run was made."))
