"""The rows of the search benchmark: what must be reached, what is aimed at, what was recorded."""

import json
from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).with_name("search_recorded.json")


@dataclass(frozen=True, slots=True)
class Bar:
    """Ratios to Zoekt; ``most`` is a bound of our own figure in the row's unit."""

    must: float | None
    aim: float
    most: float | None = None
    more_is_better: bool = False


BARS = {
    "store, all versions, content included, MB": Bar(0.25, 0.18),
    "first build, CPU s": Bar(0.8, 0.5),
    "first build, peak memory MB": Bar(1.0, 0.6),
    "a further version, 1 % of files changed, CPU s": Bar(1 / 20, 1 / 80, most=1.0),
    "a further real release, CPU s": Bar(0.2, 0.08),
    "page of 50, literal queries, p50 ms": Bar(1.3, 0.9),
    "page of 50, literal queries, p95 ms": Bar(0.7, 0.35),
    "rare identifier, p50 ms": Bar(2.0, 1.0, most=3.0),
    "phrase, p50 ms": Bar(3.0, 1.5),
    "all files counted, p50 ms": Bar(2.0, 1.2),
    "all files counted, p95 ms": Bar(0.7, 0.5),
    "regex without a literal, p50 ms": Bar(0.3, 0.1),
    "all versions against one, page p50 ms": Bar(1.5, 1.1),
    "resident after the queries, MB": Bar(0.6, 0.3),
    "32 clients at once, queries/s": Bar(None, 1.0, more_is_better=True),
}


@dataclass(frozen=True, slots=True)
class Row:
    """``ours`` and ``theirs`` in the unit of ``what``; ``middle`` is the ratio of the medians.

    ``theirs`` is Zoekt's figure, git grep's where Zoekt isn't given, or, in the row of versions,
    our own with one version.
    """

    what: str
    ours: float
    theirs: float | None = None
    middle: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.ours / self.theirs if self.theirs else None


class Table:
    """Prints rows as they come and keeps the ratios for the record."""

    def __init__(self, name: str, rival: str, recorded: dict[str, float]) -> None:
        self._name, self._rival, self._recorded = name, rival, recorded
        self.ratios: dict[str, float] = {}

    def head(self) -> None:
        recorded = f"{'recorded':>10}" if self._recorded else ""
        print(
            f"\n{self._name:49}{'ours':>9}{self._rival:>10}{'ratio':>8}{'median':>8}{'must':>7}"
            f"{'aim':>7}{recorded}"
        )

    def add(self, row: Row) -> None:
        ratio, bar = row.ratio, BARS.get(row.what)
        if ratio is not None:
            self.ratios[row.what] = round(ratio, 4)
        judged = bar is not None and ratio is not None and self._judges(row.what)
        cells = (
            f"{row.what:49}{_figure(row.ours):>9}{_figure(row.theirs):>10}{_figure(ratio):>8}"
            f"{_figure(row.middle):>8}{_figure(bar.must if bar else None):>7}"
            f"{_figure(bar.aim if bar else None):>7}"
        )
        if self._recorded:
            cells += f"{_figure(self._recorded.get(row.what)):>10}"
        verdict = _verdict(row, bar, ratio) if judged and bar and ratio is not None else ""
        print(f"{cells}  {verdict:7}{row.note}".rstrip(), flush=True)

    def _judges(self, what: str) -> bool:
        return self._rival == "Zoekt" or "against one" in what


def _verdict(row: Row, bar: Bar, ratio: float) -> str:
    if bar.most is not None and row.ours > bar.most:
        return "MISSED"
    if ratio >= bar.aim if bar.more_is_better else ratio <= bar.aim:
        return "aim"
    if bar.must is None:
        return "below"
    return "must" if ratio <= bar.must else "MISSED"


def _figure(value: float | None) -> str:
    if value is None:
        return ""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 20 else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def load_recorded() -> dict[str, dict[str, float | str]]:
    """By corpus; ``when`` and ``conditions`` beside the ratios."""
    if not RECORDED.exists():
        return {}
    found: dict[str, dict[str, float | str]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def save_recorded(name: str, when: str, conditions: str, ratios: dict[str, float]) -> None:
    known = load_recorded()
    known[name] = {"when": when, "conditions": conditions, **ratios}
    text = json.dumps(known, indent=2, sort_keys=True)
    RECORDED.write_text(text + "\n", encoding="utf-8")
