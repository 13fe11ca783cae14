"""API of what the firm sets for its documents: approval chains and standard texts."""

from django.db import transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from delivery.documents.api.branding import BrandingViewSet
from delivery.documents.models import CompanyProfile
from delivery.documents.services.company import save_company
from delivery.quotes.services import save_discount_limits
from delivery.reports import registry, services, standard_text
from delivery.reports.approvals import approval_steps
from delivery.reports.serializers import (
    ApprovalChainSerializer,
    CompanySerializer,
    WordingSerializer,
)
from delivery.reports.standard_text_library import STANDARD
from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import Customer
from engagements.web.scoped_viewset import DeclaredEndpoint

KIND = [OpenApiParameter("kind", str, OpenApiParameter.PATH)]
CODE = [OpenApiParameter("code", str, OpenApiParameter.PATH),
        OpenApiParameter("customer", int, description="the text for one; without, for all")]


class ChainViewSet(DeclaredEndpoint, ViewSet):
    """Approval chains by kind; administrators set them (PUT) or put the shipped back (DELETE)."""

    lookup_field = "kind"

    @extend_schema(responses=ApprovalChainSerializer(many=True),
                   operation_id="document_chains_list")
    def list(self, request):
        require(request.user, Can.VIEW_INTERNAL)
        return Response(_chains([kind.code for kind in registry.all_kinds()]))

    @extend_schema(parameters=KIND, responses=ApprovalChainSerializer)
    def retrieve(self, request, kind: str):
        require(request.user, Can.VIEW_INTERNAL)
        return Response(_chain(_known(kind)))

    @extend_schema(parameters=KIND, request=ApprovalChainSerializer,
                   responses=ApprovalChainSerializer)
    def update(self, request, kind: str):
        services.save_chain(actor=request.user, kind=_known(kind),
                            steps=self.validated(ApprovalChainSerializer)["steps"])
        return Response(_chain(kind))

    @extend_schema(parameters=KIND, responses={204: None})
    def destroy(self, request, kind: str):
        services.reset_chain(actor=request.user, kind=_known(kind))
        return Response(status=status.HTTP_204_NO_CONTENT)


def _chain(code: str) -> dict:
    return _chains([code])[0]


def _chains(codes: list[str]) -> list[dict]:
    return [ApprovalChainSerializer({"kind": code, "steps": steps, "is_shipped": is_shipped}).data
            for code, (steps, is_shipped) in approval_steps.chains_of(codes).items()]


def _known(code: str) -> str:
    try:
        return registry.get(code).code
    except InvalidInput as error:
        raise Http404 from error


class StandardTextViewSet(DeclaredEndpoint, ViewSet):
    """Standard texts by code; managers change them (PUT) or put the shipped back (DELETE)."""

    lookup_field = "code"
    query_parameters = ("customer",)

    @extend_schema(parameters=CODE[1:], responses=WordingSerializer(many=True),
                   operation_id="document_texts_list")
    def list(self, request):
        require(request.user, Can.VIEW_INTERNAL)
        return Response(_texts(list(STANDARD), customer_in(request)))

    @extend_schema(parameters=CODE, responses=WordingSerializer)
    def retrieve(self, request, code: str):
        require(request.user, Can.VIEW_INTERNAL)
        return Response(_text(_shipped(code), customer_in(request)))

    @extend_schema(parameters=CODE, request=WordingSerializer, responses=WordingSerializer)
    def update(self, request, code: str):
        customer = customer_in(request)
        services.save_standard_text(actor=request.user, code=_shipped(code), customer=customer,
                                    **self.validated(WordingSerializer))
        return Response(_text(code, customer))

    @extend_schema(parameters=CODE, responses={204: None})
    def destroy(self, request, code: str):
        services.reset_standard_text(actor=request.user, code=_shipped(code),
                                     customer=customer_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)


class CompanyViewSet(DeclaredEndpoint, ViewSet):
    """The firm's own particulars as documents print them; managers change them (POST).

    What is left out stays. Only administrators set `limits`, the largest discounts.
    """

    @extend_schema(responses=CompanySerializer,
                   operation_id="document_company_retrieve")
    def list(self, request):
        require(request.user, Can.VIEW_INTERNAL)
        return self._answer(CompanyProfile.current())

    @extend_schema(request=CompanySerializer, responses={200: CompanySerializer})
    def create(self, request):
        fields = self.validated(CompanySerializer, partial=True)
        limits = fields.pop("limits", {})
        with transaction.atomic():
            if limits:
                save_discount_limits(actor=request.user, limits=limits)
            return self._answer(save_company(actor=request.user, **fields))

    def _answer(self, profile: CompanyProfile) -> Response:
        return Response(CompanySerializer(profile, context={"request": self.request}).data)


def customer_in(request) -> Customer | None:
    """The customer that the query names; None without, 404 for an unknown one."""
    asked = request.query_params.get("customer", "")
    if not asked:
        return None
    return get_object_or_404(Customer, pk=int(asked) if asked.isdecimal() else None)


def _text(code: str, customer: Customer | None) -> dict:
    return _texts([code], customer)[0]


def _texts(codes: list[str], customer: Customer | None) -> list[dict]:
    return [WordingSerializer({"code": code, **texts, "is_shipped": own is None}).data
            for code, (own, texts) in standard_text.texts_for(codes, customer).items()]


def _shipped(code: str) -> str:
    if code not in STANDARD:
        raise Http404
    return code


routes = [("document-company", CompanyViewSet, "document-company"),
          ("document-chains", ChainViewSet, "document-chain"),
          ("document-texts", StandardTextViewSet, "document-text"),
          ("document-identities", BrandingViewSet, "document-identity")]
