from django.db import models
from django.db.models import Count, F, Q
from django.db.models.functions import Coalesce

from delivery.documents.bilingual import LANGUAGES
from delivery.documents.models import IssuedFile
from delivery.planning.models.base import SharedQuerySet


class IssuedQuerySet(SharedQuerySet):
    """Rows whose document is stored."""

    def issued(self) -> "IssuedQuerySet":
        """All but working copies."""
        return self.all()

    def ids_lacking_files(self) -> models.QuerySet:
        """Ids of issued rows whose present edition is not yet stored in every language."""
        stored = Count("files", filter=self.of_present_edition())
        return self.issued().values("pk").annotate(stored=stored).filter(
            stored__lt=len(LANGUAGES)).values_list("pk", flat=True)

    def of_present_edition(self) -> Q:
        """Which of a row's files are of its present edition."""
        return Q()


class EditionQuerySet(IssuedQuerySet):
    """Rows whose document is stored each time that what it prints has changed."""

    def issued(self) -> "EditionQuerySet":
        return self.exclude(state__in=self.model.WORKING_STATES)

    def of_present_edition(self) -> Q:
        *later, first = (F(name) for name in self.model.EVENT_TIMES)
        return Q(files__state=F("state"),
                 files__as_of=Coalesce(*later, first) if later else first)


class IssuedRow(models.Model):
    """A row whose document is stored; it never changes once it is there."""

    class Meta:
        abstract = True

    @property
    def is_working_copy(self) -> bool:
        """Whether nothing is stored yet and the document is rendered on request."""
        return False

    @property
    def edition(self) -> dict:
        """The columns of its files that tell the present edition from earlier ones."""
        return {}

    @property
    def file_name(self) -> str:
        """The document's number, which its files are called by."""
        return str(self).split(" ")[0]


class EditionRow(IssuedRow):
    """A row that changes what its document prints: state and time of the last event name the
    edition."""

    WORKING_STATES: tuple[str, ...] = ()
    EVENT_TIMES: tuple[str, ...] = ()  # columns, the last event first; empty until it happens

    class Meta:
        abstract = True

    @property
    def is_working_copy(self) -> bool:
        return self.state in self.WORKING_STATES

    @property
    def edition(self) -> dict:
        times = (getattr(self, name) for name in self.EVENT_TIMES)
        return {"state": self.state, "as_of": next(at for at in times if at)}


class PlanningFile(IssuedFile):
    """The stored bytes of one edition of a planning document.

    Earlier editions stay: what was put to the customer, and what it became by the answers.
    """

    ROW: str  # name of the foreign key to the row

    state = models.CharField(max_length=10)
    as_of = models.DateTimeField()

    class Meta(IssuedFile.Meta):
        abstract = True
        ordering = ["as_of", "pk"]

    @property
    def download_name(self) -> str:
        row = getattr(self, self.ROW)
        return f"{row.file_name}-{self.state}-{self.language}.{self.ending}"
