"""Operators of an ONNX graph are counted by type; those of another domain are named with it."""

from toolreaders import read_file


def field(number: int, value: bytes | int) -> bytes:
    """One protobuf field: a text or message, or a small number."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2]) + bytes([len(value)]) + value


def node(kind: str, domain: str = "") -> bytes:
    return field(1, field(1, b"x") + field(2, b"y") + field(4, kind.encode())
                 + (field(7, domain.encode()) if domain else b""))


def test_types_are_counted_over_the_whole_graph(tmp_path):
    graph = node("Conv") + node("Relu") + node("Conv") + node("Gelu", "com.microsoft") + node(
        "Add", "ai.onnx")
    path = tmp_path / "m.onnx"
    path.write_bytes(field(1, 8) + field(8, field(1, b"") + field(2, 13)) + field(7, graph))
    values = read_file(path).values
    assert (values["nodes"], values["operators"]) == (
        5, {"Conv": 2, "Relu": 1, "com.microsoft::Gelu": 1, "Add": 1})


def test_the_genuine_file_holds_one_operator(sample):
    assert read_file(sample("accuracy/onnx/relu_opset13.onnx")).values["operators"] == {"Relu": 1}
