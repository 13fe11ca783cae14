"""Variables that Django's settings do not read: those of the entry script, of commands, libraries,
the terminal client, deployment files and tests."""

from django.utils.translation import gettext_noop as _

from delivery.environment import read_elsewhere, section


def declare_variables_of_others() -> None:
    """After the settings, so that they stand behind them in the documentation."""
    section(_("Entry script and first start"))
    read_elsewhere("DESK_PORT", 8000, _("Port of `./desk run`."))
    read_elsewhere("DESK_ENV_FILE", "/etc/delivery-desk/desk.env", _(
        "File with the settings of an installation, which `./desk migrate`, `doctor`, `backup` and "
        "so on load."))
    read_elsewhere("DESK_BACKUPS", "/var/backups/delivery-desk", _(
        "Folder of backups of `./desk backup` and `./desk upgrade`."))
    read_elsewhere("DESK_PYTHON", "", _(
        "Python of which `./desk setup` makes the virtual environment."),
        shown=_("the newest one found, 3.11 at least"))
    read_elsewhere("DESK_ADMIN_PASSWORD", "", _(
        "Password of the first administrator, made by `./desk run --empty` or `manage.py begin`."),
        shown=_("made up and printed, or asked for"))

    section(_("Libraries"))
    read_elsewhere("AWS_ACCESS_KEY_ID", "", _("Name of the key of the artifact store's bucket."))
    read_elsewhere("AWS_SECRET_ACCESS_KEY", "", _("The key of the artifact store's bucket."))
    read_elsewhere("OTEL_EXPORTER_OTLP_ENDPOINT", "", _(
        "Collector that gets traces of requests, tasks and PostgreSQL statements; OpenTelemetry's "
        "other variables hold too. Needs requirements-observation.txt."))
    read_elsewhere("OTEL_SERVICE_NAME", "delivery-desk", _("Name of the desk in traces."))
    read_elsewhere("PROMETHEUS_MULTIPROC_DIR", "", _(
        "Folder in which several processes of the portal add up their figures."))

    section(_("Terminal client"))
    read_elsewhere("DESK_URL", "", _("Address of the desk that `desk-cli` asks."),
                   shown=_("that of the last `login`"))
    read_elsewhere("DESK_TOKEN", "", _("API token with which it asks."),
                   shown=_("that of the last `login`"))
    read_elsewhere("DESK_LANGUAGE", "en", _("Language of the answers."), choices=("en", "zh-hans"))

    section(_("Proxy and containers"))
    read_elsewhere("DESK_HOST", "localhost", _("Public host name in `deploy/Caddyfile`."))
    read_elsewhere("DESK_MCP_UPSTREAM", "127.0.0.1:8010", _(
        "Where the MCP server answers, in `deploy/Caddyfile`."))
    read_elsewhere("DESK_UPSTREAM", "127.0.0.1:8000", _(
        "Where the portal answers, in `deploy/Caddyfile`."))
    read_elsewhere("DESK_IMAGE", "delivery-desk", _("Image that the compose file starts."))
    read_elsewhere("DESK_HTTP_PORT", 80, _("Port of the compose file's proxy for http."))
    read_elsewhere("DESK_HTTPS_PORT", 443, _("Port of the compose file's proxy for https."))

    section(_("Tests"))
    read_elsewhere("DESK_SAMPLES", "", _("Folder of further genuine tool outputs for the tests."))
    read_elsewhere("DESK_TEST_PROCESSES", 2, _("Processes of `./desk test`."))
    read_elsewhere("DESK_TEST_S3", "", _("S3-compatible store that the tests use."),
                   shown=_("one started by the tests"))
    read_elsewhere("DESK_TEST_ENGINE", "", _("Container engine, which starts the image to test."))
    read_elsewhere("DESK_TEST_IMAGE", "", _("Image of this version to test."))
    read_elsewhere("DESK_TEST_OLD_IMAGE", "", _("Image of an older version, which is upgraded."))
    read_elsewhere("DESK_TEST_COMPOSE", "", _("Command of compose, with which to test."))
    read_elsewhere("DESK_SHOTS", "", _("Folder for pictures of the pages of browser tests."))
    read_elsewhere("DESK_DEMO_INSIDE", "", _(
        "Set by `manage.py demo` for the process that plays; not meant to be set."))
