"""What becomes of a survey that was begun with an older version of the questionnaire."""

from dataclasses import dataclass, field

from delivery.surveys.answer_values import parse_value, show_value
from delivery.surveys.draft_differences import ADDED, CHANGED, REMOVED, differences
from delivery.surveys.models import Answer, Question, Questionnaire, Survey
from delivery.surveys.services.publishing import question_dicts
from engagements.errors import InvalidInput


@dataclass
class Transfer:
    """Questions that differ, answers that go along, and answers that stay with the old version."""

    target: Questionnaire
    added: list[Question] = field(default_factory=list)
    removed: list[Question] = field(default_factory=list)
    changed: list[Question] = field(default_factory=list)  # of the new version
    kept: list[tuple[Answer, Question]] = field(default_factory=list)
    aside: list[Answer] = field(default_factory=list)


def transfer(survey: Survey, target: Questionnaire) -> Transfer:
    """How the survey would come over to `target`; nothing is written.

    An answer goes along where a question with its key takes its value. Nothing is deleted: what
    does not fit stays with the question it was given to, and comes back with a later version that
    asks it again.
    """
    new = {question.key: question for question in target.questions.all()}
    old = {question.key: question for question in survey.questionnaire.questions.all()}
    rows = differences(question_dicts(survey.questionnaire), question_dicts(target))
    named = {what: [row["key"] for row in rows if row["what"] == what and row["key"]]
             for what in (ADDED, REMOVED, CHANGED)}
    found = Transfer(target, [new[key] for key in named[ADDED]],
                     [old[key] for key in named[REMOVED]], [new[key] for key in named[CHANGED]])
    _sort_answers(survey, new, found)
    return found


def _sort_answers(survey: Survey, new: dict[str, Question], found: Transfer) -> None:
    """Per question and model the answer of the newest version counts."""
    taken = set()
    answers = survey.answers.exclude(value=None).select_related("question", "model").order_by(
        "-question__questionnaire__version", "question__position", "model__position")
    for answer in answers:
        key = answer.question.key, answer.model_id
        question = new.get(answer.question.key)
        if key in taken:
            continue
        taken.add(key)
        if question and _fits(answer, question):
            found.kept.append((answer, question))
        else:
            found.aside.append(answer)


def _fits(answer: Answer, question: Question) -> bool:
    old = answer.question
    if (old.type, old.is_per_model) != (question.type, question.is_per_model):
        return False
    try:
        return parse_value(question, answer.value) == answer.value
    except InvalidInput:
        return False


def set_aside(survey: Survey) -> list[Answer]:
    """Answers to questions that the survey's version does not ask, with `shown` as text."""
    rows = list(survey.answers.exclude(value=None).exclude(
        question__questionnaire=survey.questionnaire_id).select_related("question", "model"))
    for answer in rows:
        answer.shown = show_value(answer.question, answer.value)
    return rows
