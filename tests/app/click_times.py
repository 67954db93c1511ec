"""Measure how long a click that forbids a term takes until the new answer is on the page.

python tests/app/click_times.py [--degree 5] [--clicks 20]: Lorenz data; degree 5 has 56 candidates per equation. The
time runs in the browser from the event of the click to the change of the headline, so it holds the way to the server,
the proof, and the way back; it depends on what else the machine does. Beside it stands the processor time of the proof
alone, made in this process on the same data, which does not. Both are printed and not tested.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

from browser import Page, open_browser, server

import exactsindy as es
from exactsindy.app.what_if import Changes, apply

WATCH = """
window.clicked = null; window.shown = null;
document.addEventListener("click", () => { window.clicked = performance.now(); window.shown = null; }, true);
new MutationObserver(() => {
  const verdict = document.querySelector("[data-testid=verdict]");
  if (verdict && verdict.textContent.startsWith("What if") && window.clicked && !window.shown)
    window.shown = performance.now();
}).observe(document.body, {subtree: true, childList: true, characterData: true});
"""


def proofs(degree: int) -> list[float]:
    """Return the processor time in milliseconds of forbidding each term of each equation once, and proving again."""
    found = es.discover(es.datasets.dataset("lorenz"), degree=degree, seconds=600.0)
    spent = []
    for row in found.model.rows:
        for term in row.terms:
            before = time.process_time()
            apply(found, Changes().forbid(row.name, term.name))
            spent.append(1000 * (time.process_time() - before))
    return spent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--degree", type=int, default=5)
    parser.add_argument("--clicks", type=int, default=20)
    asked = parser.parse_args()
    with server() as address:
        driver = open_browser()
        try:
            driver.get(address)
            page = Page(driver)
            page.click("example-lorenz")
            page.wait("degrees", lambda: page.all("degree"))
            buttons = page.all("degree")[0].find_elements("css selector", "button")
            next(button for button in buttons if button.text == str(asked.degree)).click()
            count = page.see("candidates", "candidates").text.split()[0]
            page.click("start")
            page.see("verdict")
            page.wait("pictures", lambda: len(page.all("residual-plot")) == 3)
            driver.execute_script(WATCH)
            times = []
            for _ in range(asked.clicks):
                page.click("term")
                page.click("forbid")
                page.see("verdict", "What if")
                times.append(driver.execute_script("return window.shown - window.clicked"))
                page.click("undo")
                page.see("verdict", "identified")
                page.wait("pictures", lambda: len(page.all("residual-plot")) == 3)
            load = os.getloadavg()[0]
            print(f"{count} candidates, {len(times)} clicks, load {load:.1f} on {os.cpu_count()} cores:", end=" ")
            print(f"median {statistics.median(times):.0f} ms, largest {max(times):.0f} ms")
            spent = proofs(asked.degree)
            print(f"processor time of {len(spent)} proofs: ", end="")
            print(f"median {statistics.median(spent):.0f} ms, largest {max(spent):.0f} ms")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
