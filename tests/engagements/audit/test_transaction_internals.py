"""What the audit log reads of Django's open transaction is what Django still keeps there."""

import pytest
from django.db import transaction

from engagements.audit_rows.transaction_internals import commit_callbacks, open_savepoints

pytestmark = pytest.mark.django_db


def registered(callback) -> list[frozenset[str]]:
    return [savepoints for savepoints, found in commit_callbacks() if found is callback]


def test_savepoints_of_a_block_are_those_of_the_callbacks_registered_in_it():
    def outer(): ...
    def inner(): ...
    before = open_savepoints()
    transaction.on_commit(outer)
    with transaction.atomic():
        within = open_savepoints()
        transaction.on_commit(inner)
        assert before < within
        assert (registered(outer), registered(inner)) == ([before], [within])
    assert open_savepoints() == before


def test_a_block_without_a_savepoint_opens_none():
    before = open_savepoints()
    with transaction.atomic(savepoint=False):
        assert open_savepoints() == before


def test_callbacks_of_a_block_that_is_rolled_back_are_gone():
    def lost(): ...
    with transaction.atomic():
        transaction.on_commit(lost)
        transaction.set_rollback(True)
    assert registered(lost) == []
