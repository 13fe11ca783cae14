"""What pages and API of every app share: form actions, file responses, errors, JSON limits."""
