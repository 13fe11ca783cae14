from django.db import models

from delivery.documents.models import IssuedFile
from delivery.quotes.models.quote import Quote


class QuoteFile(IssuedFile):
    """The stored bytes of an issued quote; `format` is pdf or xlsx."""

    quote = models.ForeignKey(Quote, models.CASCADE, related_name="files")

    class Meta(IssuedFile.Meta):
        constraints = [models.UniqueConstraint(fields=["quote", "language", "format"],
                                               name="one_quote_file_per_language_and_format")]

    @property
    def download_name(self) -> str:
        return f"{self.quote.file_name}-{self.language}.{self.ending}"
