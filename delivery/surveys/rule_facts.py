"""What the survey tells the rules of a model (DOMAIN R-CFG-25)."""

from typing import Any

from delivery.surveys.models import Answer
from engagements.models import MigratedModel
from workers.rules.facts.stored import register_provider


@register_provider
def of_answers(model: MigratedModel) -> dict[str, Any]:
    """The data type in which the model runs on the source platform, where one is answered."""
    answered = Answer.objects.filter(model=model, question__key="precision").order_by("-pk").first()
    return {"source_dtype": answered.value} if answered and answered.value else {}
