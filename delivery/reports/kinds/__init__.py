"""The kinds of documents: one module each, found by `load_all`."""

from importlib import import_module
from pkgutil import iter_modules


def load_all() -> None:
    """Import every module of this package, so that its kind is registered."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
