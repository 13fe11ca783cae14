"""The answers that count: those of questions that are asked."""

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from delivery.surveys.answer_sheet import Sheet
from engagements.models import MigratedModel
from engagements.stages import Scope

NOTHING = {"无", "没有", "暂无", "none", "no", "n/a", "-", "--", "/"}


class CountedAnswers:
    """Reads a sheet: an answer that is no longer asked for has no consequences."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet, self.models = sheet, sheet.models
        self._asked = {cell.name: cell for cell in sheet.asked}

    def value(self, key: str, model: MigratedModel | None = None) -> Any:
        """The stored answer, for a model or for the engagement; None without one."""
        cell = self._asked.get(f"{key}@{model.code}") if model else None
        cell = cell or self._asked.get(key)
        return cell.value if cell else None

    def text(self, key: str, model: MigratedModel | None = None) -> str:
        """The answer as one line of text; "" without one, or when it says “none”."""
        text = " ".join(str(self.value(key, model) or "").split())
        return "" if text.casefold().rstrip("。.") in NOTHING else text

    def number(self, key: str, model: MigratedModel | None = None) -> Decimal | None:
        """The answer as a number; None where a version of the questions asks for something else."""
        try:
            return Decimal(self.value(key, model))
        except (InvalidOperation, TypeError, ValueError):
            return None

    def day(self, key: str) -> date | None:
        """The answer as a day; None without a proper one."""
        try:
            return date.fromisoformat(self.value(key))
        except (TypeError, ValueError):
            return None

    def whole(self, key: str, model: MigratedModel | None = None) -> int | None:
        number = self.number(key, model)
        return int(number) if number is not None else None

    def codes(self, key: str, model: MigratedModel | None = None) -> frozenset[str]:
        """The chosen codes of a list question, without “none”."""
        return self.chosen(key, model) - {"none"}

    def chosen(self, key: str, model: MigratedModel | None = None) -> frozenset[str]:
        """The chosen codes of a list question; empty without an answer."""
        value = self.value(key, model)
        return frozenset(value if isinstance(value, list) else [value] if value else [])

    def entries(self, key: str, model: MigratedModel | None = None) -> list[str]:
        """The entries of a list that was typed as text, split at commas, semicolons and lines."""
        return [part.strip() for part in re.split(r"[;；,，、\n]", str(
            self.value(key, model) or "")) if part.strip()
            and part.strip().casefold().rstrip("。.") not in NOTHING]

    def scope(self, model: MigratedModel) -> str:
        """The model's scope as answered, else as registered."""
        answer = self.value("model_scope", model)
        return answer if answer in Scope.values else model.scope

    def trains(self, model: MigratedModel) -> bool:
        return self.scope(model) != "inference"

    def infers(self, model: MigratedModel) -> bool:
        return self.scope(model) != "training"

    def parallel(self, model: MigratedModel) -> dict[str, int]:
        """TP, PP, DP, CP and EP as far as the answer names them: “TP2 PP2” → {"tp": 2, "pp": 2}."""
        found = re.findall(r"\b(TP|PP|DP|CP|EP)\s*[=:：]?\s*(\d{1,5})", self.text(
            "parallel", model).upper())
        return {name.lower(): int(size) for name, size in found}

    def hyper(self, model: MigratedModel) -> dict[str, float]:
        """Seed, peak learning rate, clipping, decay and micro batch as answered one by one.

        What is not is looked for in the text that earlier versions of the questions ask for.
        """
        text = self.text("hyper", model).lower()
        found = {name: re.search(rf"(?:{words})\s*[=:：]?\s*([0-9][0-9.]*(?:e[+-]?\d+)?)", text)
                 for name, words in HYPER_WORDS.items()}
        given = {name: self.number(key, model) for name, key in HYPER_QUESTIONS.items()}
        return {**{name: float(match[1].rstrip(".")) for name, match in found.items() if match},
                **{name: float(number) for name, number in given.items() if number is not None}}

    def betas(self, model: MigratedModel) -> list[float]:
        """The figures of the answer on betas or momentum, in order."""
        return [float(figure) for figure in re.findall(r"\d+\.\d+", self.text("betas", model))]


HYPER_QUESTIONS = {"seed": "seed", "learning_rate": "learning_rate", "clip_grad": "clip_grad",
                   "weight_decay": "weight_decay", "micro_batch_size": "micro_batch"}
HYPER_WORDS = {
    "seed": "seed|种子", "learning_rate": r"\blr|learning rate|学习率",
    "clip_grad": "clip(?:_grad|ping)?|裁剪", "weight_decay": "(?:weight )?decay|权重衰减",
    "micro_batch_size": r"micro[ _-]?batch(?:[ _-]?size)?|\bmbs|微批",
}
