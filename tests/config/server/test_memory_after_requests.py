"""What costly requests needed goes back: the process is as large as before, but for its bounded caches."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from config.server.memory_settings import child_environment

PROGRAM = """
import json, re, sys
from pathlib import Path

import django

django.setup()

from assembly.pipeline.summaries.extractive import compress
from config.server.memory_settings import release_memory
from assembly.engine.tokenizers import get_tokenizer
from memories.embeddings.wordllama import embed, warm_up
from teams.text_diff.markdown import render_markdown

TEXTS = ["\\U0001f600" * 200_000, "1" * 200_000, "[a](" * 50_000, "a.\\n" * 60_000]


def megabytes(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024


def work(text):
    compress(text, 5_000, get_tokenizer("cl100k_base"))
    embed([text] * 3)
    render_markdown(text[:30_000])


warm_up()
sizes = []
for number in range(8):
    work(TEXTS[number % 4])
    release_memory()
    sizes.append(megabytes("VmRSS"))
print(json.dumps({"first": sizes[3], "last": sizes[-1], "peak": megabytes("VmHWM")}))
"""


@pytest.mark.deep
@pytest.mark.finding("3a")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the process's size as Linux tells it")
def test_a_process_returns_to_its_size_after_costly_requests() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        env=child_environment({}),
    )
    size = json.loads(finished.stdout)
    assert size["last"] - size["first"] < 50
    assert size["peak"] - size["first"] < 150
