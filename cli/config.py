"""``vacmcp config``: what is set, from where, and what can be."""

import typer

from .failures import write_json
from .options import DataDir, Json, Quiet
from .output import Table, answer
from .session import settings_of

app = typer.Typer(help="Settings and where they come from.", rich_markup_mode=None)


@app.command()
def show(as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None) -> None:
    """Print every setting, its value and whether flag, environment, file or default gave it."""
    del quiet
    from vacmcpd.settings import values

    loaded = settings_of(data_dir, {})
    found = values(loaded.settings)
    document = {
        "settings": {
            key: {"value": value, "origin": loaded.origins[key]} for key, value in found.items()
        }
    }
    rows = tuple((key, _toml(value), loaded.origins[key]) for key, value in found.items())
    answer(document, Table(("setting", "value", "from"), rows, piped=(0, 1, 2)), as_json)


@app.command()
def schema(as_json: Json = False, quiet: Quiet = False, data_dir: DataDir = None) -> None:
    """Print the JSON Schema of settings.toml; always JSON."""
    del as_json, quiet, data_dir
    from vacmcpd import settings

    write_json(settings.schema())


def _toml(value: bool | int | float | str) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
