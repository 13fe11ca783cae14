"""File names that somebody else chose, as people may see them."""

import unicodedata

# Characters that reorder what stands around them, or show nothing: with them a name looks like
# another one ("report\u202efdp.exe").
INVISIBLE = {"Cc", "Cf", "Zl", "Zp", "Cs", "Cn"}


def shown_file_name(name: str) -> str:
    """The name with control, direction and invisible characters written as escapes (`\\n`,
    `\\u202e`); all others, Chinese among them, stay."""
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in INVISIBLE else char
        for char in name)
