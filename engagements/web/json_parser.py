"""The REST API's JSON parser, with the limits of `engagements.web.json_limits`."""

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from engagements.web.json_limits import JSONTooComplex, check_limits


class BoundedJSONParser(JSONParser):
    """DRF's JSON parser with the limits above: 400 instead of an exhausted stack."""

    def parse(self, stream, media_type=None, parser_context=None):
        try:
            value = super().parse(stream, media_type, parser_context)
            check_limits(value)
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        except JSONTooComplex as error:
            raise ParseError(str(error)) from error
        return value
