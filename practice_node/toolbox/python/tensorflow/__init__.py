"""Practice stand-in: only what a version check asks of TensorFlow."""

import random as _random

__version__ = "2.6.5"


class _Tensor:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"tf.Tensor({self.value:.5f}, shape=(), dtype=float32)"


class random:
    @staticmethod
    def normal(shape):
        draw = _random.Random(0)
        return [draw.gauss(0, 1) for _n in range(shape[0])]


def reduce_sum(values):
    return _Tensor(sum(values))
