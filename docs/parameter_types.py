"""For the pages of the reference: each parameter with its own type and default, methods that stand in other modules."""

from __future__ import annotations

from typing import Any

from griffe import DocstringSectionKind, Extension, Function, Parameters


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
            if item.is_class:
                _make_methods(item)
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


def _make_methods(item: Any) -> None:
    """Show an attribute ``name = module.name`` of a class, a function of another module, as the method it is."""
    for name, member in item.members.items():
        module, _, function = str(getattr(member, "value", "")).rpartition(".") if member.is_attribute else ("", "", "")
        if function != name or module not in item.module.members:
            continue
        found = item.modules_collection[item.module.resolve(module)].members.get(name)
        if found is not None and found.is_function:
            shown = Function(name, parameters=Parameters(*list(found.parameters)[1:]), returns=found.returns)
            shown.docstring, shown.parent = found.docstring, item
            item.members[name] = shown
