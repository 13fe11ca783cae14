"""From stored measurements to a verdict; the arithmetic is `toolreaders.verdicts`."""
