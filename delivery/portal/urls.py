from django.urls import path

from delivery.portal.audit.views import audit_page
from delivery.portal.component_gallery import gallery
from delivery.portal.home.views import home
from delivery.portal.search.views import search

app_name = "portal"

urlpatterns = [
    path("", home, name="home"),
    path("search/", search, name="search"),
    path("gallery/", gallery, name="gallery"),
    path("audit/", audit_page, name="audit"),
]
