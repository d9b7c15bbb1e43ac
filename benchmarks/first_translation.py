"""Time from cloning to the first translation in a browser, where the wheel is built already.

    python benchmarks/first_translation.py WHEEL REPOSITORY OUTPUT

Clones the repository, installs the wheel with its extra `serve` in a new virtual environment, trains on the
demo corpus of the clone, serves the model, and opens its page in Chromium, where a sentence is typed. OUTPUT
must not exist. Prints the seconds that each step took, and their sum.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable

from machine import argument_parser, disturbance_check, machine
from playwright.sync_api import sync_playwright

SENTENCE = "她 的 老师 很 忙 。"


def run(*words: object) -> None:
    subprocess.run(list(map(str, words)), check=True, capture_output=True)


def main() -> None:
    """Runs the benchmark."""
    arguments = argument_parser(__doc__, "wheel", "repository", "output").parse_args()
    clone, environment = arguments.output / "clone", arguments.output / "environment"
    arguments.output.mkdir(parents=True)
    bin_folder, model = environment / "bin", arguments.output / "model"
    demo = clone / "data" / "demo"
    sides = ("--source", demo / "train.zh", "--target", demo / "train.en")
    processes: list[subprocess.Popen[str]] = []

    def serve() -> None:
        words = [bin_folder / "hiero", "serve", f"zh-en={model}", "--port", 0]
        processes.append(subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True))

    def translate_in_browser() -> None:
        assert processes[0].stderr is not None
        address = re.search(r"http://\S+", processes[0].stderr.readline())
        assert address is not None
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path="/usr/bin/chromium")
            page = browser.new_page()
            page.goto(address[0])
            page.fill("#source", SENTENCE)
            page.wait_for_selector(".output .word")
            print(f"in the browser: {page.locator('.output').inner_text()}")
            browser.close()

    steps: dict[str, Callable[[], object]] = {
        "clone": lambda: run("git", "clone", "-q", arguments.repository, clone),
        "environment": lambda: run(sys.executable, "-m", "venv", environment),
        "install the wheel": lambda: run(bin_folder / "pip", "install", f"{arguments.wheel}[serve]"),
        "train": lambda: run(bin_folder / "hiero", "train", *sides, "--output", model),
        "serve": serve,
        "first translation": translate_in_browser,
    }
    print(machine())
    with disturbance_check():
        start = time.monotonic()
        for name, step in steps.items():
            begun = time.monotonic()
            step()
            print(f"{name}: {time.monotonic() - begun:.1f} s", flush=True)
        print(f"in all: {time.monotonic() - start:.1f} s")
    processes[0].terminate()


if __name__ == "__main__":
    main()
