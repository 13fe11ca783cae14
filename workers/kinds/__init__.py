"""The registry of job kinds: one declaration per kind, one module per group (DOMAIN 4)."""

from importlib import import_module
from pkgutil import iter_modules

from workers.kinds.base import Finished, JobKind, Judgement, Parameter, all_kinds, get, register
from workers.kinds.gone import of_job

__all__ = ["Finished", "JobKind", "Judgement", "Parameter", "all_kinds", "get", "load_all",
           "of_job", "register"]


def load_all() -> None:
    """Import every module of this package, so that its kinds are registered."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
