"""What Django knows of the open transaction and does not document; the only place that reads it.

`connection.savepoint_ids` are the savepoints that are open; `connection.run_on_commit` holds
(savepoints open at registration, callback, robust) of each callback that waits for the commit.
A test holds both against each supported version of Django.
"""

from collections.abc import Callable, Iterator

from django.db import transaction


def open_savepoints() -> frozenset[str]:
    """The savepoints within which the caller stands."""
    return frozenset(transaction.get_connection().savepoint_ids) - {None}


def commit_callbacks() -> Iterator[tuple[frozenset[str], Callable]]:
    """(savepoints open at registration, callback) of what waits for the commit."""
    for savepoints, callback, _is_robust in transaction.get_connection().run_on_commit:
        yield frozenset(savepoints), callback
