"""One visitor's work: the data, the question, the search, the answer and its changes. Sessions share nothing."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from exactsindy.app import answer, running
from exactsindy.app.answer import AnswerView
from exactsindy.app.columns import Columns, guess
from exactsindy.app.examples import Example
from exactsindy.app.files import Source, keep, keep_text
from exactsindy.app.preview import Preview, preview
from exactsindy.app.question import Candidates, Question, candidates
from exactsindy.app.repeat import python_lines, shell_line
from exactsindy.app.running import Run
from exactsindy.app.what_if import Changes, apply
from exactsindy.discovery import Discovery
from exactsindy.errors import DataError


@dataclass(eq=False)
class Session:
    """The state behind one page: changed by the methods below alone, shown by the views.

    ``folder`` is private to the session and is removed with it; ``selected`` is the answer of the search, ``shown`` the
    same with the ``changes`` made; ``kept`` is an answer put aside for comparison.
    """

    folder: Path
    source: Source | None = None
    columns: Columns = field(default_factory=lambda: Columns({}))
    preview: Preview | None = None
    question: Question = field(default_factory=Question)
    run: Run | None = None
    selected: Discovery | None = None
    shown: Discovery | None = None
    changes: Changes = field(default_factory=Changes)
    kept: Discovery | None = None

    @classmethod
    def within(cls, parent: Path) -> Session:
        """Return a new session with a private folder of its own."""
        return cls(Path(tempfile.mkdtemp(dir=parent)))

    def take_file(self, name: str, content: bytes) -> None:
        """Read an uploaded file; raise DataError if it is of no use at all."""
        self._take(keep(self._fresh(), name, content))

    def take_text(self, text: str) -> None:
        """Read a pasted table."""
        self._take(keep_text(self._fresh(), text))

    def take_example(self, example: Example) -> None:
        """Read an example."""
        self._take(example.keep(self._fresh()))
        self.columns = replace(self.columns, periodic=example.periodic)
        self.look()

    def _fresh(self) -> Path:
        """Return an empty folder for the next data file; searches of the last one end."""
        self.stop_at_once()
        return Path(tempfile.mkdtemp(dir=self.folder))

    def _take(self, source: Source) -> None:
        columns = guess(source)
        self.source, self.columns = source, columns
        self.question, self.run, self.selected, self.shown, self.kept = Question(), None, None, None, None
        self.changes = Changes()
        self.look()

    def set_columns(self, columns: Columns) -> None:
        """Read the data again with another meaning of the columns."""
        self.columns = columns
        self.look()

    def look(self) -> None:
        """Read the data and look at them."""
        assert self.source is not None
        self.preview = preview(self.source, self.columns)

    def candidates(self) -> Candidates:
        """Return the candidate terms of the question."""
        if self.preview is None or self.preview.data is None:
            return Candidates()
        return candidates(self.question, self.preview.data)

    def term_names(self) -> tuple[str, ...]:
        """Return the names of the terms of the regression that was solved."""
        return () if self.selected is None else self.selected.problem.names

    @property
    def can_start(self) -> bool:
        """Return True if there are data and candidates, and no search is under way."""
        ready = self.preview is not None and self.preview.data is not None and not self.candidates().problem
        return ready and not self.is_running

    @property
    def is_running(self) -> bool:
        """Return True while a search is under way."""
        return self.run is not None and not self.run.view.finished

    def start(self) -> None:
        """Start a search."""
        if self.source is None or not self.can_start:
            raise DataError("There is nothing to search yet: take an example or drop a file first.")
        shutil.rmtree(self.source.path.parent / "run", ignore_errors=True)
        self.run = running.start(self.source.path.parent, self.source, self.columns, self.question)

    def finish(self) -> bool:
        """Take over the answer of a search that has ended; return True if there is a new one."""
        if self.run is None or self.run.answer is None or self.run.answer is self.selected:
            return False
        self.selected = self.shown = self.run.answer
        self.changes = Changes()
        return True

    def change(self, changes: Changes) -> None:
        """Solve the stored regression again with changes, and prove it; raise SolverError if nothing satisfies them."""
        assert self.selected is not None
        self.shown = apply(self.selected, changes)
        self.changes = changes

    def answer(self) -> AnswerView | None:
        """Return what the page shows of the answer."""
        if self.shown is None or self.selected is None:
            return None
        return answer.view(self.shown, self.selected, self.changes)

    def lines(self) -> tuple[str, str]:
        """Return the lines for Python and for the command line that repeat the search and the changes."""
        assert self.source is not None
        assert self.preview is not None
        assert self.preview.data is not None
        asked = self.columns.arguments(), self.question, self.preview.data
        return python_lines(self.source.title, *asked, self.changes), shell_line(self.source.title, *asked)

    def stop_at_once(self) -> None:
        """End a search that is under way, without its answer."""
        if self.run is not None:
            self.run.kill()

    def close(self) -> None:
        """End what is under way and remove the folder."""
        self.stop_at_once()
        shutil.rmtree(self.folder, ignore_errors=True)
