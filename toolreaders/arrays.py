"""numpy where it is installed, else the part of it that the readers use, in plain Python.

Everything here computes with columns of numbers: `from toolreaders.arrays import np`. Without numpy
the figures are the same up to the last digit; logs of millions of records take longer.
"""

try:
    import numpy as np

    HAS_NUMPY = True
except ImportError:
    from toolreaders import plain_arrays as np  # type: ignore[no-redef]

    HAS_NUMPY = False

__all__ = ["HAS_NUMPY", "np"]
