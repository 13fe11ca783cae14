from django.urls import path

from delivery.undo import views

app_name = "undo"

urlpatterns = [path("undo/", views.undo, name="undo")]
