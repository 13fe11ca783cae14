"""What the project's records say already: offered in the inputs that nobody has answered."""

import re
from collections.abc import Iterator

from delivery.surveys.models import Survey
from engagements.models import MigratedModel

FRAMEWORKS = ("pytorch", "tensorflow", "mindspore", "onnx")


def known_facts(survey: Survey) -> dict[str, str]:
    """Name of an input → value as the form shows it; none where the records are silent."""
    engagement = survey.engagement
    models = list(engagement.models.current())
    customer = engagement.customer
    found = {
        "customer": "，".join(filter(None, (customer.name, customer.industry,
                                           customer.contact_name))),
        "need": engagement.description,
        "deadline": engagement.ends_on.isoformat() if engagement.ends_on else "",
        "model_count": str(len(models)) if models else "",
        **dict(pair for model in models for pair in _of_model(model))}
    return {name: value for name, value in found.items() if value}


def _of_model(model: MigratedModel) -> Iterator[tuple[str, str]]:
    size = model.parameters_billion
    yield f"model_name@{model.code}", model.name
    yield f"model_scope@{model.code}", model.scope
    yield f"parameters@{model.code}", f"{size.normalize():f}" if size is not None else ""
    yield f"train_cards@{model.code}", str(model.cards or "")
    framework = model.framework.lower()
    yield f"framework@{model.code}", next((f for f in FRAMEWORKS if framework.startswith(f)), "")
    version = re.search(r"\d+(\.\d+)+", framework)
    yield f"framework_version@{model.code}", version[0] if version else ""
