"""How each model passed its stages, one line each (DOMAIN 9.8, chapter 7)."""

from django.db.models import Prefetch
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both, instant, named
from delivery.documents.tables.table import column, table
from delivery.reports.facts.source import Source
from engagements.models import StageRecord, StageTransition
from engagements.remembered_reads import remembered
from engagements.stages import StageMove, StageState
from engagements.text import text_joining

THROUGH = (StageMove.PASS, StageMove.WAIVE)
DONE = (StageState.PASSED, StageState.WAIVED)


def passage(source: Source) -> dict:
    """Stages in scope: state, first entered, passed when and by whom, sent back, waiver."""
    return table(lambda: _("Stages of the models"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Stage")),
        column(lambda: _("State")), column(lambda: _("Entered"), "day"),
        column(lambda: _("Passed on"), "day"), column(lambda: _("Passed by")),
        column(lambda: _("Times sent back"), "number"), column(lambda: _("Waiver"), "code")],
                 [_line(record) for record in _records(source)], is_dense=True,
                 empty=lambda: _("No stage is in scope."))


def stages_passed(source: Source) -> dict:
    """One line per model; the annex file has every stage."""
    rows, records = [], _records(source)
    for model in source.models:
        found = [_line(record) for record in records if record.model_id == model.pk]
        done = [line for line in found if line[4]]
        left = [line[1] for line in found if not line[4]]
        rows.append([model.code, f"{len(done)} / {len(found)}",
                     min((line[3] for line in found if line[3]), default=""),
                     max((line[4] for line in done), default=""),
                     sum(line[6] for line in found),
                     ", ".join(filter(None, (line[7] for line in found))), _listed(left)])
    return table(lambda: _("Progress of each model through its stages"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Passed"), "code"),
        column(lambda: _("First entered"), "day"), column(lambda: _("Last passed on"), "day"),
        column(lambda: _("Times sent back"), "number"), column(lambda: _("Waiver"), "code"),
        column(lambda: _("Not passed"))], rows, is_dense=True,
        empty=lambda: _("No stage is in scope."))


def _listed(names: list[dict[str, str]]) -> dict[str, str]:
    """Names in both languages as one text in both."""
    return both(lambda: text_joining.listed(name[get_language()] for name in names) or "–")


@remembered
def _records(source: Source) -> list[StageRecord]:
    return list(StageRecord.objects.filter(
        model__engagement=source.engagement, model__dropped_at=None,
    ).exclude(state=StageState.SKIPPED).select_related("model").prefetch_related(
        Prefetch("transitions", StageTransition.objects.standing().select_related("actor")),
        "waivers").order_by("model__position", "position"))


def _line(record: StageRecord) -> list:
    moves = sorted(record.transitions.all(), key=lambda move: (move.at, move.pk))
    entered = next((m.at for m in moves if m.move == StageMove.START), record.started_at)
    through = [m for m in moves if m.move in THROUGH] if record.state in DONE else []
    return [record.model.code, both(record.get_stage_display), both(record.get_state_display),
            _minute(entered), _minute(record.passed_at) if record.state in DONE else "",
            named(through[-1].actor) if through else "",
            sum(m.move == StageMove.SEND_BACK for m in moves), ", ".join(
                f"W-{w.pk}" for w in record.waivers.all() if w.signed_at and not w.revoked_at)]


def _minute(at) -> str:
    return instant(at)[:16]


def sent_back(source: Source) -> dict:
    """Every time a stage was sent back, with the reason."""
    moves = StageTransition.objects.filter(
        record__model__engagement=source.engagement, move=StageMove.SEND_BACK,
    ).select_related("record__model", "actor").order_by("at", "pk")
    return table(lambda: _("Stages sent back"), [
        column(lambda: _("Time"), "day"), column(lambda: _("Model"), "code"),
        column(lambda: _("Stage")), column(lambda: _("By")), column(lambda: _("Reason"))],
        [[_minute(m.at), m.record.model.code, both(m.record.get_stage_display), named(m.actor),
          m.comment] for m in moves], empty=lambda: _("No stage was sent back."))
