"""The answers of a survey as one object: what is asked, what is there, what is missing."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from delivery.surveys.answer_values import show_value
from delivery.surveys.models import Answer, Question, Survey
from engagements.models import Engagement, MigratedModel

MOST_PAGES = 10


def part_numbers(numbers: list[int]) -> Iterator[str]:
    """The numbers of questions in their order; "18.1", "18.2" where several share the 18."""
    shared, seen = Counter(numbers), Counter()
    for number in numbers:
        seen[number] += 1
        yield f"{number}.{seen[number]}" if shared[number] > 1 else str(number)


@dataclass(frozen=True)
class Cell:
    """One input: a question, for per-model questions with its model, and the present answer."""

    question: Question
    model: MigratedModel | None
    answer: Answer | None

    @property
    def name(self) -> str:
        """`key` or `key@MODEL`; the same in forms, workbooks and the API."""
        return f"{self.question.key}@{self.model.code}" if self.model else self.question.key

    @property
    def value(self) -> Any:
        return self.answer.value if self.answer else None

    @property
    def revision(self) -> int:
        return self.answer.revision if self.answer else 0

    @property
    def text(self) -> str:
        return show_value(self.question, self.value)

    @property
    def is_missing(self) -> bool:
        return self.question.is_required and self.value is None


class Sheet:
    """All cells of one survey, read in three queries."""

    @cached_property
    def by_key(self) -> dict[str, Question]:
        """The questions by their keys."""
        return {question.key: question for question in self.questions}

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.questions = list(survey.questionnaire.questions.all())
        numbers = part_numbers([question.number for question in self.questions])
        for question, number in zip(self.questions, numbers, strict=True):
            question.part_number = number
        self.models = list(survey.engagement.models.current())
        answers = {(a.question_id, a.model_id): a
                   for a in survey.answers.order_by().select_related("changed_by").only(
                       "survey", "question", "model", "value", "revision", "changed_at",
                       "changed_by__username", "changed_by__full_name")}
        self.cells = {cell.name: cell for cell in self._cells(answers)}

    def _cells(self, answers: dict) -> Iterator[Cell]:
        for question in self.questions:
            for model in self.models if question.is_per_model else [None]:
                yield Cell(question, model, answers.get((question.pk, model and model.pk)))

    def value(self, key: str, model: MigratedModel | None = None) -> Any:
        """The answer for the model, or the engagement's; a model's scope has a default."""
        cell = self.cells.get(f"{key}@{model.code}") if model else None
        cell = cell or self.cells.get(key)
        value = cell.value if cell else None
        return model.scope if value is None and key == "model_scope" and model else value

    def is_asked(self, cell: Cell) -> bool:
        """Whether every condition of the question holds, those of its conditions included."""
        return all(self._holds(key, codes, cell.model)
                   for key, codes in cell.question.condition.items())

    def _holds(self, key: str, codes: list[str], model: MigratedModel | None) -> bool:
        found = self.cells.get(f"{key}@{model.code}" if model else key) or self.cells.get(key)
        if found and found.question.condition and not self.is_asked(found):
            return False
        value = self.value(key, model)
        given = value if isinstance(value, list) else [value]
        return bool(set(given) & set(codes))

    @cached_property
    def asked(self) -> list[Cell]:
        return [cell for cell in self.cells.values() if self.is_asked(cell)]

    @cached_property
    def missing(self) -> list[Cell]:
        """Required cells that are asked and empty."""
        return [cell for cell in self.asked if cell.is_missing]

    def sections(self) -> list[dict]:
        """Per section: label, how much is answered, and the same for each of its models."""
        first = {}
        for question in self.questions:
            first.setdefault(question.section, question)
        cells = {code: [cell for cell in self.asked if cell.question.section == code]
                 for code in first}
        return [{"code": code, "label": question.localized_section, **_count(cells[code]),
                 "parts": _parts(cells[code])} for code, question in first.items()]

    def pages(self) -> list[dict]:
        """The sections on at most `MOST_PAGES` pages: neighbours with few inputs share one.

        A page: `code` (of its first section), `label`, `sections`, and the counts of a section.
        """
        groups = [[section] for section in self.sections() if section["asked"]]
        while len(groups) > MOST_PAGES:
            sizes = [_inputs(groups[n]) + _inputs(groups[n + 1]) for n in range(len(groups) - 1)]
            n = sizes.index(min(sizes))
            groups[n:n + 2] = [groups[n] + groups[n + 1]]
        return [_page(group) for group in groups]

    def progress(self) -> dict:
        """Answered, asked, required missing, and per cent of all that is asked."""
        return _count(self.asked)


def _inputs(sections: list[dict]) -> int:
    return sum(section["asked"] for section in sections)


def _page(sections: list[dict]) -> dict:
    counts = {name: sum(section[name] for section in sections)
              for name in ("answered", "asked", "missing")}
    return {"code": sections[0]["code"], "sections": sections, **counts,
            "label": " · ".join(str(section["label"]) for section in sections)}


def _parts(cells: list[Cell]) -> list[dict]:
    models = dict.fromkeys(cell.model for cell in cells)
    return [{"model": model, **_count([cell for cell in cells if cell.model == model])}
            for model in models]


def _count(cells: list[Cell]) -> dict:
    answered = sum(cell.value is not None for cell in cells)
    return {"answered": answered, "asked": len(cells),
            "missing": sum(cell.is_missing for cell in cells),
            "percent": 100 * answered // len(cells) if cells else 100}


def sheet_of(engagement: Engagement) -> Sheet | None:
    """The engagement's survey as it stands; None before it is started."""
    found = Survey.objects.filter(engagement=engagement).select_related("questionnaire").first()
    return Sheet(found) if found else None
