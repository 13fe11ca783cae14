"""REST endpoints of job templates. Each write is one service call."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins

from engagements.web.scoped_viewset import ScopedViewSet
from engagements.web.service_hooks import creating, destroying
from workers.api import serializers
from workers.models import JobTemplate
from workers.services import job_templates


class JobTemplateViewSet(mixins.CreateModelMixin, mixins.DestroyModelMixin, ScopedViewSet):
    """Values of jobs that the firm uses again; a job names one as its `template`."""

    queryset = JobTemplate.objects.all()
    serializer_class = serializers.JobTemplateSerializer
    filterset_fields = ["kind", "name"]
    perform_create = creating(job_templates.save_template)
    perform_destroy = destroying(job_templates.delete_template, "template")

    @extend_schema(request=serializers.TemplateNameSerializer)
    def partial_update(self, request, pk=None):
        """Rename it."""
        return self.shown(job_templates.rename_template(
            actor=request.user, template=self.get_object(),
            **self.validated(serializers.TemplateNameSerializer)))


routes = [("job-templates", JobTemplateViewSet, "job-template")]
