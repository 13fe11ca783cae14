"""The models of the planning tests, for whose engagement the inbox is filled."""

from tests.delivery.planning.conftest import detector, llm  # noqa: F401
