"""Practice stand-in: only MindSpore's own check."""

__version__ = "2.3.0"


def run_check():
    print(f"MindSpore version: {__version__}")
    print("The result of multiplication calculation is correct, MindSpore has been installed on "
          "platform [Ascend] successfully!")
