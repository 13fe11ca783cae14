"""Fifty people who sign in at once wait five seconds at most on two cores."""

import time

from django.contrib.auth.hashers import check_password, make_password
from django.utils.module_loading import import_string

PEOPLE, CORES, SECONDS, ROUNDS = 50, 2, 5, 5
# The suite's own fast hasher does not count.
HASHER = "engagements.password_hashing.Argon2"


def test_fifty_passwords_are_checked_within_five_seconds_of_two_cores(settings):
    settings.PASSWORD_HASHERS = [HASHER]
    stored, took = make_password("Practice-2026"), []
    for _round in range(ROUNDS):
        begun = time.process_time()
        assert check_password("Practice-2026", stored)
        took.append(time.process_time() - begun)
    assert stored.startswith(f"{import_string(HASHER).algorithm}$argon2id$")
    assert min(took) * PEOPLE / CORES < SECONDS  # the others were held up
