"""Options of PYTORCH_NPU_ALLOC_CONF: R-CFG-01 to 05, for the rules and the kinds of jobs. Pure."""

from collections.abc import Callable, Iterator

from django.utils.translation import gettext_noop

from toolreaders.number_parsing import whole_number

# Option, rule, what is allowed, and how that is written.
BOUNDS: tuple[tuple[str, str, Callable[[str], bool], str], ...] = (
    ("garbage_collection_threshold", "R-CFG-02", lambda text: 0 < float(text) < 1, "0 < x < 1"),
    ("max_split_size_mb", "R-CFG-03", lambda text: float(text) > 20, "x > 20"),
    ("base_addr_aligned_kb", "R-CFG-04", lambda text: whole_number(text) in range(17), "0 … 16"),
    ("page_size", "R-CFG-04", lambda text: text.lower() == "1g", "1g"),
)


def options_of(text: str) -> dict[str, str]:
    """Options by name as written; malformed ones have an empty value."""
    pairs = (part.partition(":") for part in text.split(","))
    return {name.strip(): value.strip() for name, _colon, value in pairs if name.strip()}


def violations(text: str) -> Iterator[tuple[str, str, dict]]:
    """Rule, message id and its values for everything that the allocator would not take."""
    options = options_of(text)
    expands = options.get("expandable_segments", "").lower() == "true"
    if any(c.isspace() for c in text) or (text and any(
            part.count(":") != 1 for part in text.split(","))):
        yield "R-CFG-05", gettext_noop(
            "The allocator options are key:value, separated by commas, without blanks."), {}
    if expands and {"max_split_size_mb", "garbage_collection_threshold"} & set(options):
        yield "R-CFG-01", gettext_noop(
            "expandable_segments:True excludes max_split_size_mb and "
            "garbage_collection_threshold."), {}
    if "base_addr_aligned_kb" in options and not expands:
        yield "R-CFG-04", gettext_noop("base_addr_aligned_kb needs expandable_segments:True."), {}
    for name, rule, is_allowed, shown in BOUNDS:
        if name in options and not _satisfies(options[name], is_allowed):
            yield rule, gettext_noop("%(name)s must be %(bounds)s."), {
                "name": name, "bounds": shown}


def violates(rule: str, text: str) -> bool:
    return rule in [found[0] for found in violations(text)]


def _satisfies(text: str, is_allowed: Callable[[str], bool]) -> bool:
    try:
        return is_allowed(text)
    except (ValueError, OverflowError):
        return False
