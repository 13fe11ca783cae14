"""Runs pyHanko outside a running event loop, because it starts one of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def call_outside_event_loop(call: Callable[[], Result]) -> Result:
    """Result of the call, which runs in another thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return call()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
