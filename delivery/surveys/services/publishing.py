"""Versions of the questionnaire: each is published once and never edited."""

from typing import Any

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from bundle_verifier.canonical import content_hash
from delivery.surveys.models import Question, Questionnaire, QuestionnaireDraft
from delivery.surveys.standard_questionnaire import EARLIER_EDITIONS, standard_questions
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User

MAX_QUESTIONS = 300
TEXTS = {"key": 40, "section": 40, "section_label": 80, "section_label_en": 80, "label": 160,
         "label_en": 160, "type": 8, "unit": 24, "help": 240, "help_en": 240}
NEEDED = ("key", "section", "section_label", "section_label_en", "label", "label_en", "type")
WITH_OPTIONS = (Question.Type.CHOICE, Question.Type.MULTI)


@transaction.atomic
def publish_questionnaire(*, actor: User, questions: list[dict], note: str = "") -> Questionnaire:
    """A new version from question dictionaries (see `standard.standard_questions`).

    Surveys already begun keep their version. Writes an audit entry.
    Raises InvalidInput naming the question and what is wrong with it; NotAllowed.
    """
    require_administrator(actor)
    checked = check_questions(questions)
    return store_version(actor, checked, note)


def current_questionnaire() -> Questionnaire | None:
    """The newest version, None before the first."""
    return Questionnaire.objects.first()


@transaction.atomic
def load_standard_questionnaire() -> Questionnaire:
    """The newest version. The shipped edition becomes version 1 where there is none yet, and the
    next version where the newest is an earlier edition that nobody has changed or is changing.
    """
    newest = Questionnaire.objects.select_for_update(of=("self",), no_key=True).first()
    if newest is None or _is_earlier_edition(newest):
        return store_version(None, standard_questions(), "DOMAIN 7")
    return newest


def _is_earlier_edition(newest: Questionnaire) -> bool:
    return (content_hash(question_dicts(newest)) in EARLIER_EDITIONS
            and not QuestionnaireDraft.objects.exists())


def question_dicts(questionnaire: Questionnaire) -> list[dict]:
    """The questions of a version as the dictionaries that `publish_questionnaire` takes."""
    fields = (*TEXTS, "number", "is_required", "is_per_model", "options", "condition")
    return list(questionnaire.questions.values(*fields))


def store_version(actor: User | None, questions: list[dict], note: str) -> Questionnaire:
    """Checked questions as the next version, with its audit entry; in the caller's transaction."""
    last = Questionnaire.objects.aggregate(Max("version"))["version__max"] or 0
    made = Questionnaire.objects.create(version=last + 1, note=note.strip()[:240],
                                        created_by=actor)
    Question.objects.bulk_create(
        Question(questionnaire=made, position=n, **fields) for n, fields in enumerate(questions))
    audit_log.record(actor=actor, action="questionnaire.publish", target=made,
                     data={"questions": len(questions)})
    return made


def check_questions(questions: Any) -> list[dict]:
    """The questions with only the known fields; InvalidInput at the first that is wrong."""
    if not isinstance(questions, list) or not 0 < len(questions) <= MAX_QUESTIONS:
        raise InvalidInput(_("A questionnaire is a list of 1 to %(n)d questions.")
                           % {"n": MAX_QUESTIONS})
    checked = [_question(n, entry) for n, entry in enumerate(questions, 1)]
    keys = [entry["key"] for entry in checked]
    for entry in checked:
        if keys.count(entry["key"]) > 1:
            _refuse(entry["key"], _("the key is used twice"))
        unknown = set(entry["condition"]) - set(keys)
        if unknown:
            _refuse(entry["key"], _("its condition names an unknown question"))
        _check_codes(entry, {other["key"]: other for other in checked})
    _refuse_circles({entry["key"]: set(entry["condition"]) for entry in checked})
    return checked


def _check_codes(entry: dict, questions: dict[str, dict]) -> None:
    """A condition can only ask for what its question offers."""
    for key, codes in entry["condition"].items():
        other = questions[key]
        offered = {option["code"] for option in other["options"]} or (
            {"yes", "no"} if other["type"] == Question.Type.BOOL else set())
        if not codes or set(codes) - offered:
            _refuse(entry["key"], _("its condition expects an option that “%(key)s” does not have")
                    % {"key": key})


def _refuse_circles(needs: dict[str, set[str]]) -> None:
    """Conditions may build on each other, but not in a circle."""
    resolved: set[str] = set()
    while ready := {key for key, on in needs.items() if key not in resolved and on <= resolved}:
        resolved |= ready
    if circle := sorted(set(needs) - resolved):
        _refuse(circle[0], _("its condition is circular"))


def _question(number: int, entry: Any) -> dict:
    name = str(entry.get("key", number)) if isinstance(entry, dict) else str(number)
    if not isinstance(entry, dict):
        _refuse(name, _("it is not an object"))
    texts = {field: entry.get(field, "") for field in TEXTS}
    for field, limit in TEXTS.items():
        if not isinstance(texts[field], str) or len(texts[field]) > limit:
            _refuse(name, _("“%(field)s” is too long or not a text") % {"field": field})
        if field in NEEDED and not texts[field].strip():
            _refuse(name, _("“%(field)s” is empty") % {"field": field})
    if not all(texts[f].replace("_", "").replace("-", "").isalnum() and texts[f].isascii()
               for f in ("key", "section")):
        _refuse(name, _("key and section take letters, digits, - and _ only"))
    if texts["type"] not in Question.Type.values:
        _refuse(name, _("its type is unknown"))
    count = entry.get("number")
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count < 1000:
        _refuse(name, _("its number is not between 1 and 999"))
    return {**texts, "number": count, "is_required": entry.get("is_required") is True,
            "is_per_model": entry.get("is_per_model") is True,
            "options": _options(name, texts["type"], entry.get("options", [])),
            "condition": _condition(name, entry.get("condition", {}))}


def _options(name: str, kind: str, options: Any) -> list[dict]:
    fields = ("code", "label", "label_en")
    is_list = isinstance(options, list) and all(
        isinstance(o, dict) and all(isinstance(o.get(f), str) and o[f] for f in fields)
        for o in options)
    if not is_list or (kind in WITH_OPTIONS) != bool(options):
        _refuse(name, _("its options do not fit its type"))
    return [{field: option[field] for field in fields} for option in options]


def _condition(name: str, condition: Any) -> dict:
    is_map = isinstance(condition, dict) and all(
        isinstance(codes, list) and all(isinstance(code, str) for code in codes)
        for codes in condition.values())
    if not is_map:
        _refuse(name, _("its condition is not a map of keys to codes"))
    return condition


def _refuse(name: str, reason: str) -> None:
    raise InvalidInput(_("Question “%(name)s”: %(reason)s.") % {"name": name, "reason": reason})
