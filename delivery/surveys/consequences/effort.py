"""Effort drivers: what the next estimate takes into account beside size and stages."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.planning.models import DriverCode
from delivery.planning.services.effort_drivers import remove_driver, set_driver
from delivery.surveys.consequences.base import Item, Kind, register
from delivery.surveys.consequences.counted_answers import CountedAnswers
from delivery.surveys.consequences.rules import is_quantised
from delivery.surveys.models import Consequence, Survey
from engagements.models import MigratedModel, User


@register
class EffortDrivers(Kind):
    code = "driver"
    title = gettext_lazy("Effort drivers")
    explanation = gettext_lazy("The next draft of the effort estimate takes them into account.")

    def follow(self, given: CountedAnswers) -> Iterator[Item]:
        for model in given.models:
            for code, amount, question in _drivers(given, model):
                if amount:
                    yield Item(self.code, code, model, {"amount": str(amount)}, (question,))

    def label(self, key: str) -> str:
        return str(DriverCode(key).label)

    def show(self, key: str, value: dict[str, Any]) -> str:
        return str(value["amount"])

    def apply(self, actor: User, survey: Survey, item: Item, before: Consequence | None) -> dict:
        set_driver(actor=actor, model=item.model, code=item.key,
                   amount=Decimal(item.value["amount"]), source=_("Survey"))
        return {}

    def withdraw(self, actor: User, survey: Survey, applied: Consequence) -> None:
        remove_driver(actor=actor, model=applied.model, code=applied.key)


def _drivers(given: CountedAnswers, model: MigratedModel) -> Iterator[tuple[str, int, str]]:
    """(driver, amount, question); an amount of 0 is no driver."""
    operators = len(given.entries("custom_ops_list", model)) or 1
    yield (DriverCode.CUSTOM_OPS.value,
           operators * (given.value("custom_ops", model) == "yes"), "custom_ops")
    if given.trains(model):
        yield (DriverCode.OWN_CODE.value,
               int(given.value("code_origin", model) in ("own", "modified")), "code_origin")
        yield DriverCode.LIBRARIES.value, len(given.entries("libraries", model)), "libraries"
        yield (DriverCode.SPECIAL_APIS.value, len(given.codes("special_apis", model)),
               "special_apis")
        yield DriverCode.CARDS.value, given.whole("train_cards", model) or 0, "train_cards"
    if given.infers(model):
        yield (DriverCode.DYNAMIC_SHAPE.value,
               int(given.value("dynamic_shape", model) == "yes"), "dynamic_shape")
        yield DriverCode.QUANTISATION.value, int(is_quantised(given, model)), "quantisation"
    yield DriverCode.OFFLINE.value, int(given.value("network") in ("intranet", "proxy")), "network"
