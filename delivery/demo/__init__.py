"""Running and showing the product: processes, the sample engagement, the whole scenario."""
