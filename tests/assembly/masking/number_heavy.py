"""Texts that consist of numbers, most of which are nobody's: logs, invoices, tables, JSON, lists of phone numbers."""

import json
import random
from uuid import UUID

LINES = 40


def number_heavy_texts(seed: int = 7) -> dict[str, str]:
    """Return a text of each sort, the same for the same seed."""
    chance = random.Random(seed)
    number = chance.randint
    logs = (
        f"2026-11-{number(1, 28):02} {number(0, 23):02}:{number(0, 59):02}:07.{number(0, 999_999):06} INFO "
        f"req={chance.getrandbits(64):016x} status={chance.choice([200, 404, 500])} bytes={number(100, 9_999_999)} "
        f"ms={chance.random() * 900:.3f} user={number(10**7, 10**9)} "
        f"10.{number(0, 255)}.{number(0, 255)}.1:{number(1_024, 65_535)}"
        for _ in range(LINES)
    )
    invoice = (
        f"{place:3} Art. {number(10**6, 10**9)} Kabel NYM 3x1,5 {number(1, 500)} Stk. "
        f"{number(1, 99)},{number(0, 99):02} EUR {number(100, 9_999)},{number(0, 99):02} EUR"
        for place in range(LINES)
    )
    table = (
        f"{number(10**5, 10**8)};2026-0{number(1, 9)}-{number(10, 28)};{chance.random() * 1_000:.2f};"
        f"{number(10**12, 10**13 - 1)};{chance.random() * 90:.6f};{chance.random() * 180:.6f}"
        for _ in range(LINES)
    )
    items = [
        {
            "id": number(10**10, 10**13),
            "uuid": str(UUID(int=chance.getrandbits(128))),
            "sha": f"{chance.getrandbits(160):040x}",
            "ts": 1_764_180_000 + number(0, 99_999),
            "values": [number(0, 10**6) for _ in range(8)],
        }
        for _ in range(LINES // 3)
    ]
    phones = (
        f"Meier +{chance.choice(['49 171', '33 6', '34 612', '91 98', '44 20'])} {number(100, 999)} {number(100, 999)} "
        f"{number(10, 99)}, Tel. 0{number(30, 899)} {number(10_000, 9_999_999)}, Raum {number(100, 999)}"
        for _ in range(LINES)
    )
    return {
        "logs": "\n".join(logs),
        "invoice": "\n".join(invoice),
        "table": "id;created;amount;ean;lat;lon\n" + "\n".join(table),
        "json": json.dumps(items, indent=1),
        "phones": "\n".join(phones),
    }
