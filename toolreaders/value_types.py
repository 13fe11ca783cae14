"""Types that the values of readings are made of; all of it is what strict JSON holds."""

from typing import Any, Literal

Number = float | Literal["nan", "inf", "-inf"]
Record = dict[str, Any]
