"""PAdES seals of PDF files with pyHanko: certificates, sealing and validation."""
