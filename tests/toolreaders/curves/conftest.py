"""Files for the comparisons, as the readers' tests write them."""

from tests.toolreaders.readers.conftest import written

__all__ = ["written"]
