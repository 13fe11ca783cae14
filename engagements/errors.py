"""Expected failures. Pages show them, the API maps them once, jobs record them."""


class DeskError(Exception):
    """Something the user can understand and cure.

    `message` is a translated sentence: what, where, what to do. `status` is the HTTP status
    the API answers with, `retry_after_seconds` its header Retry-After (0: none).
    """

    code = "error"
    status = 400
    retry_after_seconds = 0

    def __init__(self, message: str, **details):
        super().__init__(str(message))
        self.message = str(message)
        self.details = details


class NotAllowed(DeskError):
    code = "not_allowed"
    status = 403


class WrongState(DeskError):
    """The object is not in a state in which this can be done."""

    code = "wrong_state"
    status = 409


class Unavailable(DeskError):
    """Something that the desk needs to answer does not answer now."""

    code = "unavailable"
    status = 503
    retry_after_seconds = 30


class InvalidInput(DeskError):
    code = "invalid_input"
    status = 400


class GateNotMet(DeskError):
    """A stage cannot pass; `details["checks"]` lists what is missing."""

    code = "gate_not_met"
    status = 409
