"""The overall analysis of an assessment: what is known by dimension, and on what it rests.

Each sentence counts answers and readings; what is not known says so.
"""

from collections.abc import Callable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.agreement.facts import money, told
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.planning.queries import grand_total
from delivery.reports.facts.source import Source
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.readiness import readiness
from engagements.models import MigratedModel
from engagements.text.text_joining import in_turn, listed
from workers.unresolved_apis import ApiClass, analyses_in_force, found_apis, is_whole

Text = Callable[[], str]


def overall(source: Source) -> dict:
    """Dimension, finding and basis; a project without a survey has one row that says so."""
    rows = [[both(title), both(finding), both(basis)]
            for title, finding, basis in _dimensions(source)] if source.survey else []
    return table(lambda: _("Overall analysis"), [
        column(lambda: _("Dimension")), column(lambda: _("Finding")),
        column(lambda: _("Based on"))], rows,
        empty=lambda: _("The survey has not been started: nothing could be analysed."))


def _dimensions(source: Source) -> Iterator[tuple[Text, Text, Text]]:
    given = CountedAnswers(source.survey)
    models = source.models
    yield (lambda: _("Business"), lambda: _business(source, given), _survey)
    yield (lambda: _("Models"), lambda: _models(given, models), _survey)
    yield (lambda: _("Data"), lambda: _data(given, models), _survey)
    yield (lambda: _("Software"), lambda: _software(models), lambda: _("Analyses of the sources"))
    yield (lambda: _("Accuracy and performance"), lambda: _baselines(given, models),
           lambda: _("Survey and recorded baselines"))
    yield (lambda: _("Platform"), lambda: _platform(given), _survey)
    yield (lambda: _("Effort and cost"), lambda: _cost(source), lambda: _("Estimate and quote"))
    yield (lambda: _("Readiness"), lambda: _ready(source), lambda: _("All of these"))


def _survey() -> str:
    return _("Survey")


def _known(*parts: str) -> str:
    return in_turn(part for part in parts if part) or _("not stated")


def _business(source: Source, given: CountedAnswers) -> str:
    deadline = given.day("deadline")
    return _known(str(source.engagement.get_scope_display()),
                  _("to be done by %(day)s") % {"day": deadline} if deadline else "",
                  given.text("windows"))


def _of(number: int, models: list[MigratedModel], words: str) -> str:
    """“2 of 3: written in-house”; nothing for none."""
    return _("%(n)d of %(all)d models: %(what)s") % {
        "n": number, "all": len(models), "what": words} if number else ""


def _models(given: CountedAnswers, models: list[MigratedModel]) -> str:
    def count(key: str, *codes: str) -> int:
        return sum(bool(given.codes(key, model) & set(codes)) for model in models)

    return _known(
        ngettext("%(n)d model", "%(n)d models", len(models)) % {"n": len(models)},
        _of(count("code_origin", "own", "modified"), models, _("own or modified code")),
        _of(count("custom_ops", "yes"), models, _("custom operators")),
        _of(count("dynamic_shape", "yes"), models, _("dynamic shapes")))


def _data(given: CountedAnswers, models: list[MigratedModel]) -> str:
    trained = [model for model in models if given.trains(model)]
    cleaned = [model for model in trained if given.codes("cleaning_done", model)]
    raw = [model for model in trained if "none" in given.chosen("cleaning_done", model)]
    unknown = len(trained) - len(cleaned) - len(raw)
    return _known(
        _of(sum(bool(given.text("dataset", m)) for m in models), models, _("data set described")),
        _of(len(cleaned), trained, _("training data cleaned")),
        _of(len(raw), trained, _("training data not cleaned")),
        _of(unknown, trained, _("state of cleaning not stated")))


def _software(models: list[MigratedModel]) -> str:
    read = [model for model in models if any(map(is_whole, analyses_in_force(model)))]
    missing = [model.code for model in models if model not in read]
    uses = sum(entry.uses for model in read for entry in found_apis(model)
               if entry.kind in (ApiClass.UNSUPPORTED, ApiClass.CUDA))
    return _known(
        _of(len(read), models, _("sources analysed")),
        _("%(n)d uses of unsupported APIs and CUDA operators") % {"n": uses} if read else "",
        _("not analysed: %(models)s") % {"models": listed(missing)} if missing else "")


def _baselines(given: CountedAnswers, models: list[MigratedModel]) -> str:
    def published(model: MigratedModel) -> bool:
        return "published" in (given.value("accuracy_source", model),
                               given.value("performance_source", model))

    speed = [m for m in models if given.number("throughput", m)
             or given.number("token_throughput", m)]
    return _known(
        _of(sum(given.number("accuracy_value", m) is not None for m in models), models,
            _("accuracy stated")),
        _of(len(speed), models, _("performance stated")),
        _of(sum(published(m) for m in models), models, _("published figures, not measured")),
        _of(sum(m.baselines.exists() for m in models), models, _("baselines with raw files")))


def _platform(given: CountedAnswers) -> str:
    def shown(key: str) -> str:
        cell = given.sheet.cells.get(key)
        return cell.text if cell else ""

    cards = given.whole("cards")
    return _known(shown("chip"), ngettext("%(n)d card", "%(n)d cards", cards) % {"n": cards}
                  if cards else "", shown("procurement"), shown("hosting"), shown("network"))


def _cost(source: Source) -> str:
    price = source.agreement.value("price")
    if price:
        return _("quoted %(amount)s without tax") % {
            "amount": told(money(price["currency"], price["net"]))}
    days = grand_total(source.estimate)["likely"] if source.estimate else 0
    return _known(_("%(days)s person-days (likely)") % {"days": f"{days:.1f}"} if days else "")


def _ready(source: Source) -> str:
    found = readiness(source.survey)
    blocking = listed(entry.label for entry in found.blocking)
    return _known(_("%(score)d of 100 points") % {"score": found.score},
                  _("missing before the start: %(names)s") % {"names": blocking}
                  if blocking else "")
