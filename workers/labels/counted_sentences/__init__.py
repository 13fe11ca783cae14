"""Job sentences that count something, each with its singular.

A job keeps the message as it is written where it is said; here stands what it is for one.
"""

from workers.labels.counted_sentences import dispatch, kinds  # noqa: F401
