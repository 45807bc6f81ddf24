"""Lists of contexts as files: their columns, their two formats, and how long ones are prepared."""
