"""Human evaluation of generated text: answers of both platforms, rated blindly (seed S3, 6)."""
