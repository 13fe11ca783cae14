"""A kind of document: a note without front pages, released by the administrator."""

from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.reports.office.writers import document_docx
from delivery.reports.registry import Block, DocumentKind, Section, register


def facts(source):
    """One table: the models whose cards take the power."""
    return {"tables": {"racks": table(
        lambda: "Models", [column(lambda: "Model"), column(lambda: "Name")],
        [[model.code, both(lambda name=model.name: name)] for model in source.models],
        empty=lambda: "No model is in scope.")}}


register(DocumentKind(
    "RN", "Rack note", "What the racks take.",
    (Section("about", "About", ("words:rn_about",)), Section("racks", "Racks", ("table:racks",))),
    facts, blocks=(Block("rn_about", "About"),), writers={"docx": document_docx},
    chain=({"action": "review", "title": "复核", "title_en": "Checked", "role": "operator"},
           {"action": "approve", "title": "发布", "title_en": "Released",
            "role": "administrator"}),
    has_front_pages=False,
))
