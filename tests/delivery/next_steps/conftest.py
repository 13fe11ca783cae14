"""The models of the planning tests."""

from tests.delivery.planning.conftest import detector, llm  # noqa: F401
