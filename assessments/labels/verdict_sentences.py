"""Verdicts as sentences of the active language."""

from functools import partial

from django.utils.translation import gettext

from toolreaders.verdicts import sentences

sentence = partial(sentences.sentence, translate=gettext)
