"""The page: thin views of a session, made with NiceGUI. Nothing is decided here."""

from exactsindy.app.views.page import close_sessions as close_sessions
from exactsindy.app.views.page import register as register
