"""The endpoint that says whom an object lacks before it is submitted."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.response import Response

from engagements import duties
from engagements.access import Can, require


class MissingPeopleSerializer(serializers.Serializer):
    """Steps after the author's for which the engagement has nobody, a sentence each."""

    missing_people = serializers.ListField(child=serializers.CharField())


class MissingPeopleAction:
    # Mixed into viewsets of what is written, reviewed and approved by different people.

    duty_rule: duties.DutyRule
    asker_is_author = True  # False where the rows tell who wrote it

    @extend_schema(responses=MissingPeopleSerializer, filters=False)
    @action(detail=True, url_path="missing-people", pagination_class=None)
    def missing_people(self, request, pk=None):
        """Whom the engagement lacks for the steps after yours, were you to submit it."""
        row, author = self.get_object(), request.user if self.asker_is_author else None
        require(request.user, Can.VIEW_INTERNAL)
        return Response({"missing_people": duties.missing_people(self.duty_rule, row, author)})
