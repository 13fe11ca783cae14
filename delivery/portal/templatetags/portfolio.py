"""Cells and headings of the portfolio's table."""

from django import template

register = template.Library()


@register.inclusion_tag("delivery/portal/portfolio_cell.html")
def portfolio_cell(row, column) -> dict:
    """One cell."""
    value = column.value(row)
    yuan = f"{value:,.0f}" if column.code == "quoted" and value is not None else ""
    return {"row": row, "column": column, "value": value, "yuan": yuan}


@register.simple_tag
def sort_link(request, column) -> str:
    """The address that sorts by the column; once more the other way round."""
    query = request.GET.copy()
    query.pop("page", None)
    query["sort"] = f"-{column.sort}" if query.get("sort") == column.sort else column.sort
    return f"?{query.urlencode()}"


@register.simple_tag
def sort_state(request, column) -> str:
    """The value of `aria-sort`."""
    asked = request.GET.get("sort", "")
    if asked.removeprefix("-") != column.sort:
        return "none"
    return "descending" if asked.startswith("-") else "ascending"
