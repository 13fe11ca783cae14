"""The library of standard metric definitions (DOMAIN 3.1, 3.4, and the definitions in use)."""

from assessments.definitions.curves import CURVES
from assessments.definitions.declaration import Definition
from assessments.definitions.scores import SCORES
from assessments.definitions.values import VALUES

STANDARD: tuple[Definition, ...] = (*CURVES, *SCORES, *VALUES)
BY_CODE = {definition.code: definition for definition in STANDARD}
