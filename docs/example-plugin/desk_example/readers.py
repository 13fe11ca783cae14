"""A reader of comma-separated lines under the head `rack,seconds,watts`."""

from toolreaders import Reader, ReadError, register

HEAD = "rack,seconds,watts"


@register
class RackPower(Reader):
    name = kind = "rack_power"
    tool = "rackmeter"

    def recognises(self, sample):
        return 90 if sample.first_line.strip() == HEAD else 0

    def read(self, source):
        rows = [text.split(",") for _number, text in source.lines() if text.strip()][1:]
        if not rows:
            raise ReadError("no_values", "The file holds a head and no values.")
        return self.reading({"points": len(rows), "most_watts": max(float(row[2]) for row in rows)})
