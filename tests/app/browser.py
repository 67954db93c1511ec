"""A real browser in front of a real server: Debian's Chromium, driven by Selenium."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

CHROMIUM, DRIVER = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
# Seconds to wait for something on the page: machines of continuous integration are slow.
PATIENCE = 240


def skip_without_browser():
    """Skip a module, saying why, where there is no browser to test with."""
    pytest.importorskip("nicegui", reason="the extra app is not installed")
    pytest.importorskip("selenium", reason="selenium is not installed")
    if CHROMIUM is None or DRIVER is None:
        reason = "no Chromium with chromedriver on this machine: apt-get install chromium chromium-driver"
        pytest.skip(reason, allow_module_level=True)


@contextmanager
def server():
    """Run the app as people do, and give its address."""
    command = [sys.executable, "-u", "-m", "exactsindy", "app", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said = ""
        while "Ctrl-C" not in said:
            line = process.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        yield re.search(r"http://\S+", said).group()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def open_browser(width=1280, height=900, downloads=None):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


class Page:
    """The page as a person uses it: what is seen, and what is clicked."""

    def __init__(self, driver):
        self.driver = driver

    def all(self, name):
        return self.driver.find_elements("css selector", f'[data-testid="{name}"]')

    def wait(self, what, happens, patience=PATIENCE):
        """Wait until something is true; elements that are drawn again in between are looked for anew."""
        from selenium.common.exceptions import StaleElementReferenceException

        end = time.monotonic() + patience
        while time.monotonic() < end:
            try:
                result = happens()
            except StaleElementReferenceException:
                result = None
            if result:
                return result
            time.sleep(0.05)
        raise AssertionError(f"waited {patience} s for {what}; the page says:\n{self.text()[:3000]}")

    def see(self, name, text="", patience=PATIENCE):
        """Wait for an element that shows a text, and return it."""
        return self.wait(
            f"{name} with {text!r}",
            lambda: next((e for e in self.all(name) if e.is_displayed() and text in e.text), None),
            patience,
        )

    def read(self, name, text=""):
        """Wait for an element that shows a text, and return all that it shows."""
        return self.wait(
            f"{name} with {text!r}",
            lambda: next((shown for e in self.all(name) if e.is_displayed() and text in (shown := e.text)), None),
        )

    def click(self, name, text=""):
        """Click an element once it is there, as a person does: in view, enabled, and no longer moving."""
        self.wait(f"{name} {text!r} to click", lambda: self.clicked(name, text))

    def clicked(self, name, text=""):
        """Click an element if it can be clicked now, and return True if it was."""
        element = next((e for e in self.all(name) if e.is_enabled() and (not text or text in e.text)), None)
        return element is not None and self.clicked_element(element)

    def clicked_element(self, element):
        """Click an element if it stands still, and return True if it was clicked."""
        from selenium.common.exceptions import ElementClickInterceptedException, ElementNotInteractableException

        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        before = element.rect
        time.sleep(0.1)
        if element.rect != before:
            return False
        try:
            element.click()
        except (ElementClickInterceptedException, ElementNotInteractableException):
            return False
        return True

    def text(self):
        return self.driver.find_element("tag name", "body").text
