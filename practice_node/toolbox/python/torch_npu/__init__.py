"""Practice stand-in: only what a version check asks of torch_npu."""

__version__ = "2.1.0.post8"
