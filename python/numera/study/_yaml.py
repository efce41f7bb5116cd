# SPDX-License-Identifier: MIT
"""Files of YAML or JSON: tables of costs, and policies."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from numera._errors import Error
from numera._request import Path
from numera._sources import Source
from numera._sources import read as source

__all__ = ["beside", "parse", "policy", "read"]


def read(path: Path) -> Any:
    """What a file says."""
    name = os.fspath(path)
    return parse(source(name).text, name)


def parse(text: str, path: str) -> Any:
    """What YAML says; JSON is YAML that needs no package. A key that is there twice is
    an error."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise Error(f"{path}: '{twice}' is there twice")
        return made

    try:
        return json.loads(text, object_pairs_hook=once)
    except ValueError:
        pass
    try:
        import yaml
    except ImportError:
        raise Error(f"{path} is no JSON, and YAML needs: pip install pyyaml") from None

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            seen = set()
            for key, _ in node.value:
                name = key.tag, str(key.value)
                if isinstance(key, yaml.ScalarNode) and name in seen:
                    raise yaml.constructor.ConstructorError(
                        problem=f"'{key.value}' is there twice",
                        problem_mark=key.start_mark,
                    )
                seen.add(name)
            return node

    try:
        return yaml.load(text, Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{mark.line + 1}:{mark.column + 1}:" if mark else ""
        problem = getattr(error, "problem", None) or "it is no YAML"
        raise Error(f"{path}:{where} {problem}") from None


def policy(path: Path, *, alone: bool = False) -> dict[str, Any]:
    """The section `policy` of a configuration, which may have to be alone in it."""
    found = read(path)
    section = found.get("policy") if isinstance(found, Mapping) else None
    if not isinstance(section, Mapping):
        raise Error(f"{os.fspath(path)} has no section policy")
    if alone and len(found) > 1:
        raise Error(f"{os.fspath(path)} has more than a policy; --load reads formats")
    return dict(section)


def beside(path: Path) -> list[Source]:
    """What a configuration has beside its policy, for ``formats=``: the same text,
    with every line in its place, or nothing."""
    name = os.fspath(path)
    whole = source(name)
    found = parse(whole.text, name)
    rest = {key: value for key, value in found.items() if key != "policy"}
    if not rest:
        return []
    try:
        import yaml

        root = yaml.compose(whole.text, yaml.SafeLoader)
    except ImportError:  # JSON was read without it
        return [whole._replace(text=json.dumps(rest))]
    if root.flow_style:
        return [whole._replace(text=json.dumps(rest))]
    text = whole.text
    for key, value in root.value:
        if key.value == "policy":
            begin, end = key.start_mark.index, value.end_mark.index
            gone = "\n" * text.count("\n", begin, end)
            text = text[:begin] + gone + text[end:]
    return [whole._replace(text=text)]
