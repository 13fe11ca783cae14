from django.urls import path

from delivery.operation import views

app_name = "operation"

urlpatterns = [
    path("healthz", views.alive, name="alive"),
    path("readyz", views.ready, name="ready"),
    path("metrics", views.metrics, name="metrics"),
    path("operation/files/", views.files, name="files"),
    path("operation/", views.operation, name="operation"),
]
