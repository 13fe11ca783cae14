"""What is logged how: one handler to the console, libraries that say too much kept quiet."""

from pythonjsonlogger.core import RESERVED_ATTRS


def logging_settings(log_format: str, level: str) -> dict:
    """Django's LOGGING.

    Args:
        log_format: "line" for people, "json" for machines.
        level: of the root logger.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"context": {"()": "engagements.log_context.ContextFilter"}},
        "formatters": {
            "line": {"format": "{asctime} {levelname} {name}: {message}{context}", "style": "{"},
            "json": {"()": "pythonjsonlogger.json.JsonFormatter", "timestamp": True,
                     "format": "{levelname}{name}{message}", "style": "{",
                     "rename_fields": {"levelname": "level", "name": "logger"},
                     "json_ensure_ascii": False, "reserved_attrs": [
                         *RESERVED_ATTRS, "context", "taskName", "request"]},
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": log_format,
                                 "filters": ["context"]}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {"kombu.connection": {"level": "ERROR"}, "asyncssh": {"level": "WARNING"},
                    "fontTools": {"level": "WARNING"},
                    "weasyprint": {"level": "ERROR"},
                    "weasyprint.progress": {"propagate": False},  # for the page that waits alone
                    "pyhanko": {"level": "ERROR"},
                    "pyhanko_certvalidator": {"level": "ERROR"}, "axes": {"level": "WARNING"},
                    # At DEBUG it would write addresses, and with them keys, of robots.
                    "urllib3": {"level": "INFO"},
                    # Each request, for machines; people read the lines of a proxy.
                    "desk.requests": {"level": "INFO" if log_format == "json" else "WARNING"}},
    }
