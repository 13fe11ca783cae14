from django.urls import path
from django.views.generic import TemplateView
app_name = "reports"
urlpatterns = [path("documents/", TemplateView.as_view(template_name="layout/base.html"), name="list")]
