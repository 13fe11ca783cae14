"""What is signed and how: terms of signing, drawn signature, signature page, PDF seals."""
