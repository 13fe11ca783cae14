"""API of document branding: versions that are read, and a new one that is made."""

from django.db.models import Q
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.parsers import MultiPartParser
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from delivery.documents.branding.serializers import BrandingSerializer
from delivery.documents.models import BrandingVersion
from delivery.documents.services.branding import save_branding
from engagements.access import Can, require
from engagements.models import Customer
from engagements.web.json_parser import BoundedJSONParser


class BrandingViewSet(ListModelMixin, RetrieveModelMixin, GenericViewSet):
    """Branding of documents, by version; POST makes the next one (administrators).

    The highest version of a customer, and of the firm (customer null), is in force for drafts
    made from now on. What was submitted or issued keeps its own.
    """

    queryset = BrandingVersion.objects.none()
    serializer_class = BrandingSerializer
    parser_classes = [MultiPartParser, BoundedJSONParser]
    filterset_fields = ["customer"]

    def get_queryset(self):
        require(self.request.user, Can.VIEW_INTERNAL)
        visible = Customer.objects.visible_to(self.request.user)
        return BrandingVersion.objects.select_related("made_by").filter(
            Q(customer=None) | Q(customer__in=visible)).order_by("-version", "-pk")

    @extend_schema(request=BrandingSerializer, responses={201: BrandingSerializer})
    def create(self, request):
        form = self.get_serializer(data=request.data)
        form.is_valid(raise_exception=True)
        made = save_branding(actor=request.user, **form.fields_for_service())
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(parameters=[OpenApiParameter("customer", int)])
    def list(self, request, *args, **kwargs):
        return super().list(request, *args, **kwargs)
