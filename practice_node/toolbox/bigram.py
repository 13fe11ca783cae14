"""A tiny language model that is really trained: next token by the last one.

The text is drawn anew for every step from the seed, the same on every device. The "npu" device
rounds what it computes with to bfloat16, so that two devices' losses truly differ a little.
"""

import math
import random
import struct

VOCABULARY = 12
MOST_PAIRS = 256  # per step: the arithmetic stays small whatever batch is asked for


def bfloat16(value):
    """The nearest bfloat16: a float32 without the lower half of its bits, rounded to even."""
    try:
        bits = struct.unpack("I", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("f", struct.pack("I", bits))[0]


class Bigram:
    """Logits of the next token by the last one; cross-entropy trained by gradient descent."""

    def __init__(self, seed, device):
        start = random.Random(seed)
        self.data = random.Random(seed + 1)
        self.round = bfloat16 if device == "npu" else float
        self.weights = [[start.gauss(0, 0.02) for _ in range(VOCABULARY)]
                        for _ in range(VOCABULARY)]
        self.text = [[1.0 / (1 + (a * 5 + b * 3) % 7) for b in range(VOCABULARY)]
                     for a in range(VOCABULARY)]

    def step(self, pairs, rate):
        """One update on a mean over `pairs`; returns mean loss and gradient norm."""
        pairs = min(pairs, MOST_PAIRS)
        gradients = [[0.0] * VOCABULARY for _ in range(VOCABULARY)]
        loss = sum(self._learn_pair(gradients) for _pair in range(pairs)) / pairs
        square = 0.0
        for row, slopes in zip(self.weights, gradients, strict=True):
            for i, slope in enumerate(slopes):
                square += (slope / pairs) ** 2
                row[i] -= rate * slope / pairs
        return loss, math.sqrt(square)

    def _learn_pair(self, gradients):
        last = self.data.randrange(VOCABULARY)
        following = self.data.choices(range(VOCABULARY), self.text[last])[0]
        row = [self.round(w) for w in self.weights[last]]
        top = max(row)
        powers = [self.round(math.exp(w - top)) for w in row]
        scale = self.round(sum(powers))
        for i, power in enumerate(powers):
            gradients[last][i] += self.round(power / scale) - (i == following)
        return -math.log(max(powers[following] / scale, 1e-12))

    def content(self):
        """The weights as bytes, for a checkpoint."""
        return b"".join(struct.pack(f"{VOCABULARY}d", *row) for row in self.weights)
