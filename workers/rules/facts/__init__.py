"""Facts for the rules, drawn from readings (DOMAIN 5): what was read, and where it stands.

One module per group of readings; modules of this folder are found by themselves.
"""

from importlib import import_module
from pkgutil import iter_modules

from workers.rules.facts.base import Observed, Seen, given_names, observed, observes

__all__ = ["Observed", "Seen", "given_names", "load_all", "observed", "observes"]


def load_all() -> None:
    """Import every module of this package, so that what it observes is registered."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
