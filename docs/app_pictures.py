"""Make the pictures of the app for the documentation: python docs/app_pictures.py (needs Chromium and chromedriver)."""

from __future__ import annotations

import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests" / "app"))

from browser import Page, open_browser, server  # noqa: E402

IMAGES = HERE / "images"


def resized(page: Page, width: int, height: int) -> None:
    sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sizes)
    time.sleep(1.5)  # plots follow the width


def picture(page: Page, name: str, file: str) -> None:
    """Write what the window shows with a part of the page at its top."""
    page.driver.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "window.scrollTo({top: box.top + window.scrollY - 12, behavior: 'instant'})",
        page.see(name),
    )
    time.sleep(1.0)
    page.driver.save_screenshot(str(IMAGES / file))


def main() -> None:
    with server() as address:
        driver = open_browser()
        page = Page(driver)
        try:
            resized(page, 1280, 1120)
            driver.get(address)
            page.click("example-lorenz")
            page.see("start")
            page.see("data-plot")
            driver.execute_script("document.activeElement.blur()")
            driver.execute_script("window.scrollTo(0, 0)")
            time.sleep(2.0)
            driver.save_screenshot(str(IMAGES / "app_data.png"))
            page.click("start")
            page.see("verdict")
            page.wait("pictures", lambda: len(page.all("residual-plot")) == 3)
            picture(page, "answer", "app_answer.png")
            term = driver.find_elements("css selector", '[data-testid="term"][data-term="y"]')[1]
            term.click()
            page.click("forbid")
            page.see("verdict", "What if")
            page.wait("pictures", lambda: len(page.all("residual-plot")) == 3)
            picture(page, "answer", "app_what_if.png")
            resized(page, 390, 900)
            picture(page, "answer", "app_phone.png")
        finally:
            driver.quit()


if __name__ == "__main__":
    main()
