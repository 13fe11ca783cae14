// Practice: the host side of AddCustom (shapes and tiling) would stand here.
