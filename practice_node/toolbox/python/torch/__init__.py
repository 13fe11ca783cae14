"""Practice stand-in: only what a version check asks of torch."""

__version__ = "2.1.0"


class npu:
    """What torch_npu adds to torch."""

    @staticmethod
    def is_available():
        return True
