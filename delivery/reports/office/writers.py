"""Writers of office files for the kinds of documents.

python-docx and openpyxl take longer to import than everything else a kind needs, and every kind
is declared at start: they are imported when a file is written.
"""


def document_docx(snapshot: dict, language: str, *, is_withdrawn: bool = False) -> bytes:
    """The Word file in one language, see `word_file`."""
    from delivery.reports.office import word_document

    return word_document.document_docx(snapshot, language, is_withdrawn=is_withdrawn)


def document_xlsx(snapshot: dict, language: str, *, is_withdrawn: bool = False) -> bytes:
    """The workbook in one language, see `workbook`."""
    from delivery.reports.office import workbook

    return workbook.document_xlsx(snapshot, language, is_withdrawn=is_withdrawn)


def annex_xlsx(snapshot: dict, language: str, *, is_withdrawn: bool = False) -> bytes:
    """The annex file of a document on verdicts in one language, see `annex_tables`."""
    from delivery.reports.office import annex_tables, workbook

    return workbook.document_xlsx(snapshot, language, is_withdrawn=is_withdrawn,
                                  tables=annex_tables.annex)
