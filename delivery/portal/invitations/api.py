"""REST endpoint of invitations."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.response import Response

from delivery.portal.invitations import services
from delivery.portal.invitations.people_rows import COLUMNS, MOST_PEOPLE
from engagements.models import User
from engagements.serializers import PersonSerializer
from engagements.web.scoped_viewset import DeclaredEndpoint


class InvitedPersonSerializer(serializers.ModelSerializer):
    """The facts of somebody to invite."""

    class Meta:
        model = User
        fields = list(COLUMNS)
        extra_kwargs = {"email": {"required": True, "allow_blank": False},
                        "role": {"required": True}}


class InvitationSerializer(serializers.Serializer):
    """A list of people; all of them are invited, or none."""

    people = InvitedPersonSerializer(many=True, allow_empty=False, max_length=MOST_PEOPLE)


class InvitationViewSet(DeclaredEndpoint, viewsets.GenericViewSet):
    """Accounts whose people choose their password by a link in an e-mail; for administrators."""

    queryset = User.objects.none()
    serializer_class = InvitationSerializer

    @extend_schema(request=InvitationSerializer, responses={201: PersonSerializer(many=True)})
    def create(self, request):
        invited = services.invite_people(
            actor=request.user, **self.validated(InvitationSerializer))
        return Response(PersonSerializer(invited, many=True).data, status.HTTP_201_CREATED)


routes = [("invitations", InvitationViewSet, "invitation")]
