"""How passwords are hashed: Argon2id as OWASP's cheat sheet on password storage advises."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class Argon2(Argon2PasswordHasher):
    """19 MiB, two passes, one lane: about 30 ms of one core."""

    memory_cost, time_cost, parallelism = 19 * 1024, 2, 1
