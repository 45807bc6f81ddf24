"""Contexts are what people see of assemblies: the list, its search, one context's pages, exports, REST."""
