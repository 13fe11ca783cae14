"""Reports that the desk's own scripts write on a node (`workers/kinds/scripts`)."""

from toolreaders.base import Reader, Reading, Sample, Source, register


@register
class NodeReportReader(Reader):
    """JSON object with the name of the report under `desk_report`."""

    name = "node_report"
    kind = "node_report"
    tool = "delivery-desk"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        named = isinstance(found, dict) and isinstance(found.get("desk_report"), str)
        return 99 if named else 0

    def read(self, source: Source) -> Reading:
        values = dict(source.json)
        return self.reading({"form": values.pop("desk_report"), **values})
