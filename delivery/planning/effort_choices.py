"""Grades, work items and drivers of effort: the choices that estimates, time and quotes share."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Grade(models.TextChoices):
    """Grades of the rate card; codes as in `delivery.quotes.standard_price_lists`."""

    MANAGER = "manager", _("project manager")
    EXPERT = "expert", _("architect, expert")
    SENIOR = "senior", _("senior engineer")
    ENGINEER = "engineer", _("engineer")
    JUNIOR = "junior", _("junior, test")


class WorkItem(models.TextChoices):
    """Item types of estimates and timesheets."""

    SURVEY = "survey", _("Survey and assessment")
    DESIGN = "design", _("Migration plan and criteria")
    ENV = "env", _("Environment set-up")
    ADAPT = "adapt", _("Training adaptation")
    OPERATORS = "operators", _("Unsupported APIs and operators")
    ACCURACY = "accuracy", _("Accuracy alignment")
    PERFORMANCE = "performance", _("Training performance")
    CONVERT = "convert", _("Model conversion and inference")
    SERVE = "serve", _("Inference performance")
    TEST = "test", _("Tests and acceptance")
    OPERATION = "operation", _("Integration and operation")
    MANAGEMENT = "management", _("Project management")


class DriverCode(models.TextChoices):
    """What makes a model take more days than its size and stages say (DOMAIN 7, “effort”)."""

    CUSTOM_OPS = "custom_ops", _("Custom operators and extensions")
    OWN_CODE = "own_code", _("Code not taken from an authoritative repository")
    LIBRARIES = "libraries", _("Acceleration libraries to replace")
    SPECIAL_APIS = "special_apis", _("APIs that need rewriting")
    DYNAMIC_SHAPE = "dynamic_shape", _("Dynamic shapes")
    QUANTISATION = "quantisation", _("Quantisation wanted")
    OFFLINE = "offline", _("No direct access to packages")
    CARDS = "cards", _("Cards used for training")
