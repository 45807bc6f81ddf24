"""A draft preview shows what agents would see of a text that is not published."""
