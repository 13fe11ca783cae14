"""Readers of the files that tools of the field leave behind; one reader per format.

``read_file(path)`` says what a file is and what it holds. A new format is a new module in one of
the packages of formats with a class under ``@register``: modules are found by themselves.
"""

from toolreaders.base import (
    Reader,
    ReadError,
    Reading,
    ReadingWarning,
    load_readers,
    register,
)
from toolreaders.file_reading import read_file

__all__ = [
    "ReadError",
    "Reader",
    "Reading",
    "ReadingWarning",
    "load_readers",
    "read_file",
    "register",
]
