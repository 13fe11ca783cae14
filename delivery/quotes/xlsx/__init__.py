"""The quotation as a workbook with live formulas, laid out like the document (DOMAIN 9.2)."""
