"""Nouns beside numbers that no sentence of a job follows everywhere; none has a verb of its own."""

from engagements.text.nested_sentences import declare_noun

for noun, number in (("file", "files"), ("file", "compared"), ("warning", "warnings"),
                     ("line", "added"), ("dump", "dumps"), ("sheet", "sheets"),
                     ("package", "packages"), ("job", "jobs"), ("place", "changes")):
    declare_noun(f"%({number})d {noun}s", f"%({number})d {noun}", number)
