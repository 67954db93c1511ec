"""For the pages of the reference: parameters that share a description keep their own types and defaults."""

from __future__ import annotations

from typing import Any

from griffe import DocstringSectionKind, Extension


class ParameterTypes(Extension):
    """Set type and default of every documented parameter from the signature; griffe takes those of the first name."""

    def on_package(self, *, pkg: Any, **kwargs: Any) -> None:
        """Go through everything that was loaded."""
        seen: set[str] = set()
        waiting = [pkg]
        while waiting:
            item = waiting.pop()
            if item.is_alias or item.path in seen:
                continue
            seen.add(item.path)
            waiting += item.members.values()
            if item.docstring is not None and (item.is_function or item.is_class):
                _correct(item)


def _correct(item: Any) -> None:
    known = {parameter.name: parameter for parameter in item.parameters}
    for section in item.docstring.parsed:
        if section.kind is DocstringSectionKind.parameters:
            for entry in section.value:
                parameter = known.get(entry.name.lstrip("*"))
                if parameter is not None and parameter.annotation is not None:
                    entry.annotation, entry.value = parameter.annotation, parameter.default
