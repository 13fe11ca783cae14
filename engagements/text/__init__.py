"""Text that people read or type: joining it, its language, numbers in it."""
