"""Calling pyHanko where an event loop may run already; it starts one of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def call_outside_event_loop(call: Callable[[], Result]) -> Result:
    """The call's result; made in another thread if this one is busy with a loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
