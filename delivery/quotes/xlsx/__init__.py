"""The quotation as a workbook with live formulas, laid out like the paper (DOMAIN 9.2)."""
