"""A real SSH server with stand-ins for programs that need NPU hardware.

The product does not know that a node is one, apart from the practice mark on its row.
"""
