"""The registry of job kinds: one declaration per kind, one package per group (DOMAIN 4)."""

from importlib import import_module
from pkgutil import walk_packages

from workers.kinds.base import Finished, JobKind, Judgement, Parameter, all_kinds, get, register
from workers.kinds.unknown_kind import of_job

__all__ = ["Finished", "JobKind", "Judgement", "Parameter", "all_kinds", "get", "load_all",
           "of_job", "register"]


def load_all() -> None:
    """Import every module of this package, so that its kinds are registered."""
    for module in walk_packages(__path__, f"{__name__}."):
        import_module(module.name)
