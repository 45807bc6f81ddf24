"""How benchmarks print what they measured."""

import json


class DataMissing(Exception):
    """An error of a benchmark that measures nothing without the data that its message names."""


def figure(bench: str, name: str, value: float, unit: str, n: int) -> None:
    """One JSON line: the value of a figure, its unit, and how many measurements it stands on."""
    print(json.dumps({"bench": bench, "figure": name, "value": round(value, 3), "unit": unit, "n": n}), flush=True)
