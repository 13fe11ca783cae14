"""The kinds of documents: their facts, approval, issue and files."""
