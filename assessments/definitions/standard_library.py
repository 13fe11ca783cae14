"""The library of standard metric definitions (DOMAIN 3.1, 3.4, and the definitions in use)."""

from decimal import Decimal

from assessments.definitions.curves import CURVES
from assessments.definitions.declaration import Definition
from assessments.definitions.scores import SCORES
from assessments.definitions.values import VALUES

STANDARD: tuple[Definition, ...] = (*CURVES, *SCORES, *VALUES)
BY_CODE = {definition.code: definition for definition in STANDARD}
DEFAULT_CURVE = "loss_mean_relative_error"
DEFAULT_THRESHOLD = Decimal("0.02")  # service contract: "< 2 %"
