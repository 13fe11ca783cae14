from django.db import models

from engagements.models.engagement import localized


class Bilingual(models.Model):
    """An item with name and specification in Chinese and, where there is one, in English."""

    class Meta:
        abstract = True

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)

    @property
    def localized_specification(self) -> str:
        return localized(self.specification, self.specification_en)
