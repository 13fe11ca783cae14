"""The one record of what was contracted: drafted, agreed, changed; everything else reads it."""
