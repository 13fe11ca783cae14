from django.db import models

from engagements.models.engagement import local


class Bilingual(models.Model):
    """An item with name and specification in Chinese and, where there is one, in English."""

    class Meta:
        abstract = True

    @property
    def local_name(self) -> str:
        return local(self.name, self.name_en)

    @property
    def local_specification(self) -> str:
        return local(self.specification, self.specification_en)
