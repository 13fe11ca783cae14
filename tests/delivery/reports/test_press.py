"""Papers are set in another process; one that dies is replaced."""

import os

import pytest

from delivery.reports import press
from delivery.reports.pdf import set_type

PAPER = '<html lang="en"><head><title>T</title></head><body><p>One page.</p></body></html>'


@pytest.fixture
def _apart(settings):
    settings.PRESS = True
    yield
    if press._pool:
        press._stop(press._pool)


@pytest.mark.usefixtures("_apart")
def test_set_apart_the_bytes_are_the_same_and_a_dead_child_is_replaced():
    assert press.run_apart(os.getpid) != os.getpid()
    with pytest.raises(press.PressFailedError):
        press.run_apart(os._exit, 3)
    assert press.run_apart(set_type, PAPER) == set_type(PAPER)
    with pytest.raises(ZeroDivisionError):  # what fails there fails here
        press.run_apart(divmod, 1, 0)


def test_without_a_press_the_call_is_made_here():
    assert press.run_apart(os.getpid) == os.getpid()
