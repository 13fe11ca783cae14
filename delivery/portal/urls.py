from django.urls import path

from delivery.portal import views

app_name = "portal"

urlpatterns = [
    path("", views.home, name="home"),
    path("search/", views.search, name="search"),
    path("gallery/", views.gallery, name="gallery"),
    path("audit/", views.audit_log, name="audit"),
]
