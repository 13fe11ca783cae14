"""Readers of conversions: ATC, AOE, ONNX, TensorFlow, msfmktransplt."""
