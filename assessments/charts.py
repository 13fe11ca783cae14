"""One Vega-Lite specification for browser and PDF. Being written now."""
