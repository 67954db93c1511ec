"""The app: a page in the browser, served on this computer alone; it calls what the package offers and adds no method.

Files beside `views` know nothing of the page: they are frozen records of what it shows and functions that make them.
"""

from exactsindy.app.serving import serve as serve
