"""The options of the comparison with Zoekt."""

import argparse
from pathlib import Path
from typing import Any


class _AddRepository(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        namespace.repositories.append((Path(values), []))


class _AddRefs(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if not namespace.repositories:
            parser.error("--ref stands after its --repository")
        namespace.repositories[-1][1].extend(values.split(","))


def arguments(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repository", action=_AddRepository, required=True)
    parser.add_argument("--ref", action=_AddRefs, help="oldest first; several with commas")
    parser.add_argument("--zoekt", type=Path, help="the folder of Zoekt's binaries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--slow-rounds", type=int, default=1, help="of the slow expressions")
    parser.add_argument("--each", type=int, default=5, help="queries of every kind")
    parser.add_argument("--builds", type=int, default=2, help="first builds")
    parser.add_argument("--requests", type=int, default=400, help="of the clients at once")
    parser.add_argument("--record", action="store_true", help="keep the ratios beside the script")
    parser.add_argument("--profile", action="store_true", help="profile our page queries instead")
    parser.set_defaults(repositories=[])
    options = parser.parse_args()
    if any(len(refs) < 2 for _, refs in options.repositories):
        parser.error("every --repository needs two refs or more")
    return options
