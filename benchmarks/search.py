"""Our search engine against Zoekt, one table for each repository.

    python benchmarks/search.py --repository kafka.git --ref 2.8.0,…,3.8.0 [--repository …]
                                [--zoekt FOLDER] [--seed N] [--rounds N] [--record]

How it is measured. Builds: each in a fresh process, whole processes compared (interpreter and
imports included), both read the same clone; Zoekt without ctags. Zoekt has no way to add a
version, so its cost of a further one is its run over all of them. Queries: drawn by seed from the
newest version's own tokens, asked of that version in the store of all; our call in-process to the
finished page, Zoekt's over one kept loopback connection to the last byte of the answer, engines
interleaved query by query after a pass that isn't timed; "ratio" is of the best of all rounds,
"median" of the medians. Neither side keeps results; ours keeps decompressed blocks, Zoekt's files
are in the page cache. A page is 50 lines of ours, 50 files of Zoekt's; "counted" is the exact
number of lines of ours, Zoekt without a limit and one file displayed. Memory is the resident set
of a fresh process of ours after all queries, and of Zoekt's web server. Without --zoekt the
queries go to git grep and Zoekt's last recorded ratios are printed as recorded.
"""

import argparse
import cProfile
import datetime
import json
import os
import pstats
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import process
import store
import zoekt
from corpus import PAGE, Clone, Corpus, Query, changed_version, clone_of, grep, without_literal
from options import arguments
from table import Row, Table, load_recorded, save_recorded

CLIENTS = 32
MB = 1e6


@dataclass
class Bench:
    """One repository's clone, stores and indexes in a temporary folder."""

    clone: Clone
    folder: Path
    binaries: Path | None
    options: argparse.Namespace
    table: Table
    changed: str = ""
    servers: dict[str, zoekt.Server] = field(default_factory=dict)

    @property
    def last(self) -> str:
        return self.clone.commits[-1]

    @property
    def rival_has_all(self) -> bool:
        return self.binaries is not None and len(set(self.clone.commits)) < zoekt.MOST_BRANCHES

    def ours(self, name: str) -> Path:
        return self.folder / f"ours-{name}"

    def index(self, name: str) -> Path:
        return self.folder / f"zoekt-{name}"

    def build_ours(self, name: str, commits: Sequence[str]) -> process.Cost:
        script = str(Path(store.__file__))
        place = [str(self.clone.path), str(self.ours(name))]
        return process.measure([sys.executable, script, "build", *place, *commits])

    def build_zoekt(self, name: str, commits: Sequence[str]) -> process.Cost:
        assert self.binaries
        shutil.rmtree(self.index(name), ignore_errors=True)
        command = zoekt.index_command(
            self.binaries, self.clone.path, list(commits), self.index(name)
        )
        return process.measure(command)

    def searcher(self, name: str) -> store.Searcher:
        return store.open_searcher(self.clone.path, self.ours(name))

    def serve(self, name: str) -> zoekt.Server:
        assert self.binaries
        server = self.servers[name] = zoekt.Server(self.binaries, self.index(name))
        return server


def run(bench: Bench) -> None:
    bench.changed = changed_version(bench.clone, bench.options.seed)
    if bench.binaries:
        zoekt.make_branches(bench.clone.path, [*bench.clone.commits, bench.changed])
    corpus = Corpus(bench.clone, bench.last)
    count, size = len(corpus.files), corpus.bytes() / MB
    print(
        f"{len(bench.clone.commits)} versions, {bench.clone.refs[0]} to {bench.clone.refs[-1]}; "
        f"the last has {count} files, {size:.1f} MB"
    )
    bench.table.head()
    say("builds")
    first_build(bench)
    all_versions(bench)
    queries = corpus.queries(bench.options.seed, bench.options.each)
    del corpus
    say(f"{len(queries)} queries")
    try:
        ask_all(bench, queries)
    finally:
        for server in bench.servers.values():
            server.close()


def first_build(bench: Bench) -> None:
    ours, theirs = [], []
    for _ in range(bench.options.builds):
        shutil.rmtree(bench.ours("one"), ignore_errors=True)
        ours.append(bench.build_ours("one", [bench.last]))
        if bench.binaries:
            theirs.append(bench.build_zoekt("one", [bench.last]))
    for what, of in (
        ("first build, CPU s", lambda cost: cost.cpu),
        ("first build, peak memory MB", lambda cost: cost.peak / MB),
        ("first build, wall s", lambda cost: cost.wall),
    ):
        bench.table.add(paired(what, list(map(of, ours)), list(map(of, theirs))))


def all_versions(bench: Bench) -> None:
    commits = bench.clone.commits
    costs = [bench.build_ours("all", [commit]) for commit in commits]
    total = sum(cost.cpu for cost in costs)
    whole = bench.build_zoekt("all", commits) if bench.rival_has_all else None
    theirs = whole.cpu if whole else None
    grown = store.Store(bench.clone.path, bench.ours("all")).size / MB
    one = store.Store(bench.clone.path, bench.ours("one")).size / MB
    kept = zoekt.size(bench.index("all")) / MB if whole else None
    add = bench.table.add
    add(Row("store, all versions, content included, MB", grown, kept))
    add(Row("store, the last version alone, MB", one, index_size(bench, "one")))
    add(Row("all versions, CPU s", total, theirs, note=f"{len(commits)} builds of ours"))
    add(Row("all versions, MB each", grown / len(commits)))
    in_call = json.loads(costs[-1].output)[-1][1]
    note = f"{in_call:.2f} s of it in the build's call"
    add(Row("a further real release, CPU s", costs[-1].cpu, theirs, note=note))
    further_version(bench)


def index_size(bench: Bench, name: str) -> float | None:
    return zoekt.size(bench.index(name)) / MB if bench.binaries else None


def further_version(bench: Bench) -> None:
    """On a copy, so that the queries find the store as the releases made it."""
    commits = [*bench.clone.commits, bench.changed]
    shutil.copytree(bench.ours("all"), bench.ours("changed"))
    ours = bench.build_ours("changed", [bench.changed])
    theirs = bench.build_zoekt("changed", commits) if bench.rival_has_all else None
    in_call = json.loads(ours.output)[-1][1]
    row = Row(
        "a further version, 1 % of files changed, CPU s",
        ours.cpu,
        theirs.cpu if theirs else None,
        note=f"{in_call:.2f} s of it in the build's call",
    )
    bench.table.add(row)
    shutil.rmtree(bench.ours("changed"))
    shutil.rmtree(bench.index("changed"), ignore_errors=True)


def ask_all(bench: Bench, queries: list[Query]) -> None:
    ours, single = bench.searcher("all"), bench.searcher("one")
    series: dict[str, Callable[[Query], float]] = {
        "page": lambda query: ours.timed(bench.last, query.text, PAGE),
        "one": lambda query: single.timed(bench.last, query.text, PAGE),
        "count": lambda query: ours.timed(bench.last, query.text, 0),
    }
    if bench.rival_has_all:
        there, first = bench.serve("all").connection, bench.serve("one").connection
        series["zoekt page"] = lambda query: there.ask(as_zoekt(bench, query), zoekt.PAGE)[0]
        series["zoekt one"] = lambda query: first.ask(as_zoekt(bench, query), zoekt.PAGE)[0]
        series["zoekt count"] = lambda query: there.ask(as_zoekt(bench, query), zoekt.COUNT)[0]
    took = interleaved(series, queries, bench.options.rounds)
    slow = interleaved(pages_of(series), without_literal(), bench.options.slow_rounds, warm=False)
    if not bench.binaries:
        took |= git_grep(bench, queries)
        slow |= git_grep(bench, without_literal())
    latency_rows(bench, queries, took, slow)
    if bench.rival_has_all:
        compare_answers(bench, ours, queries)
    memory_and_start(bench, queries)
    if bench.rival_has_all:
        many_clients(bench, queries)
    through_engine(bench, ours, queries)


def as_zoekt(bench: Bench, query: Query) -> str:
    return zoekt.scoped(query.text, bench.last)


def pages_of(series: dict[str, Callable[[Query], float]]) -> dict[str, Callable[[Query], float]]:
    return {name: ask for name, ask in series.items() if name in {"page", "zoekt page"}}


Times = dict[tuple[str, str], list[float]]
"""Milliseconds by series and query text."""


def interleaved(
    series: dict[str, Callable[[Query], float]],
    queries: list[Query],
    rounds: int,
    warm: bool = True,
) -> Times:
    """Every query asked in every series, one after the other, before the next query."""
    took: Times = defaultdict(list)
    order = random.Random(rounds)
    for turn in range(rounds + warm):
        for query in order.sample(queries, len(queries)):
            for name, ask in series.items():
                milliseconds = ask(query)
                if turn >= warm:
                    took[name, query.text].append(milliseconds)
    return took


def git_grep(bench: Bench, queries: list[Query]) -> Times:
    took: Times = {}
    for query in queries:
        if not query.grep:
            continue
        began = time.perf_counter()
        subprocess.run(grep(bench.clone, bench.last, query), stdout=subprocess.DEVNULL)
        spent = [(time.perf_counter() - began) * 1000]
        took["zoekt page", query.text] = took["zoekt count", query.text] = spent
    return took


def latency_rows(bench: Bench, queries: list[Query], took: Times, slow: Times) -> None:
    literal = [query for query in queries if not query.kind.startswith("regex")]
    add = bench.table.add
    for what, name in (("page of 50, literal queries", "page"), ("all files counted", "count")):
        for part, at in (("p50", 0.5), ("p95", 0.95)):
            add(spread(f"{what}, {part} ms", took, literal, (name, f"zoekt {name}"), at))
    pair = ("page", "zoekt page")
    for kind in dict.fromkeys(query.kind for query in queries):
        chosen = [query for query in queries if query.kind == kind]
        add(spread(f"{kind}, p50 ms", took, chosen, pair, 0.5))
    add(spread("regex without a literal, p50 ms", slow, without_literal(), pair, 0.5))
    one = spread("all versions against one, page p50 ms", took, literal, ("page", "one"), 0.5)
    add(one)
    add(spread("all versions against one, page p95 ms", took, literal, ("page", "one"), 0.95))
    slowest(took, queries, "page")
    slowest(took, queries, "count")
    if bench.rival_has_all:
        versions = spread("", took, literal, ("zoekt page", "zoekt one"), 0.5)
        print(f"{'  (Zoekt, the same at p50)':49}{versions.ours:9.2f}{versions.theirs:10.2f}")


def spread(what: str, took: Times, queries: list[Query], names: tuple[str, str], at: float) -> Row:
    asked = [query for query in queries if (names[1], query.text) in took] or queries
    best, middle = [], []
    for name in names:
        times = [took[name, query.text] for query in asked if (name, query.text) in took]
        if times:
            best.append(quantile([min(each) for each in times], at))
            middle.append(quantile([statistics.median(each) for each in times], at))
    if len(best) < 2:
        return Row(what, best[0])
    note = f"{len(asked)} queries; medians {middle[0]:.2f} : {middle[1]:.2f}"
    return Row(what, best[0], best[1], middle[0] / middle[1], note)


def slowest(took: Times, queries: list[Query], name: str) -> None:
    """Which queries make the p95; the best of the rounds, ours and the other's."""
    best = {key: min(each) for key, each in took.items()}
    ranked = sorted(queries, key=lambda query: -best[name, query.text])
    told = []
    for query in ranked[:5]:
        theirs = best.get((f"zoekt {name}", query.text))
        beside = "" if theirs is None else f" : {theirs:.1f}"
        told.append(f"{query.text} {best[name, query.text]:.1f}{beside}")
    print(f"  (slowest, {name}: {'; '.join(told)})")


def quantile(values: list[float], at: float) -> float:
    ordered = sorted(values)
    if len(ordered) == 1:
        return ordered[0]
    cuts = statistics.quantiles(ordered, n=100, method="inclusive")
    return cuts[round(at * 100) - 1]


def compare_answers(bench: Bench, ours: store.Searcher, queries: list[Query]) -> None:
    """Not timed: whether both found the same files."""
    connection = bench.servers["all"].connection
    differ = []
    for query in queries:
        page = ours.search(bench.last, query.text, 1_000_000)
        mine, its = {match.path for match in page.matches}, connection.paths(as_zoekt(bench, query))
        if mine != its:
            differ.append((query.text, sorted(mine - its), sorted(its - mine)))
    print(f"same files as Zoekt: {len(queries) - len(differ)} of {len(queries)} queries")
    for text, only, missing in differ[:10]:
        print(
            f"    {text}: ours alone {len(only)} {only[:2]}, Zoekt's {len(missing)} {missing[:2]}"
        )


def memory_and_start(bench: Bench, queries: list[Query]) -> None:
    asked = [*queries, *without_literal()]
    work = [[query.text, limit] for query in asked for limit in (PAGE, 0)]
    done = subprocess.run(
        [
            *(sys.executable, str(Path(store.__file__)), "queries"),
            *(str(bench.clone.path), str(bench.ours("all")), bench.last),
        ],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        check=True,
        env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"},
    )
    found = json.loads(done.stdout)
    theirs = process.resident(bench.servers["all"].pid) if bench.rival_has_all else None
    note = f"without file pages {found['anonymous'] / MB:.0f}"
    note += f" : {theirs[1] / MB:.0f}" if theirs else ""
    held = theirs[0] / MB if theirs else None
    bench.table.add(Row("resident after the queries, MB", found["resident"] / MB, held, note=note))
    started = bench.servers["all"].start_seconds * 1000 if bench.rival_has_all else None
    steps = "import {:.0f}, open {:.0f}, first query {:.1f}".format(*found["start"])
    bench.table.add(Row("start to the first answer, ms", sum(found["start"]), started, note=steps))


def many_clients(bench: Bench, queries: list[Query]) -> None:
    literal = [query.text for query in queries if not query.kind.startswith("regex")]
    texts = literal * max(1, bench.options.requests // len(literal))
    random.Random(bench.options.seed).shuffle(texts)
    scoped = [zoekt.scoped(text, bench.last) for text in texts]
    ours = store.throughput(bench.clone.path, bench.ours("all"), bench.last, texts, CLIENTS)
    theirs = zoekt.throughput(bench.servers["all"].port, scoped, CLIENTS)
    note = f"{len(texts)} pages; ours: 2 worker processes"
    bench.table.add(Row("32 clients at once, queries/s", ours, theirs, note=note))


def through_engine(bench: Bench, ours: store.Searcher, queries: list[Query]) -> None:
    """What is on top of the provider's page: the engine's answer, then the server's."""
    from server import Served

    literal = [query for query in queries if not query.kind.startswith("regex")]
    engine = ours.engine(bench.last)
    with Served(bench.clone, bench.last) as served:
        series: dict[str, Callable[[Query], float]] = {
            "page": lambda query: ours.timed(bench.last, query.text, PAGE),
            "engine": lambda query: store.engine_timed(engine, query.text, PAGE),
            "http": lambda query: served.ask(query.text, PAGE),
        }
        took = interleaved(series, literal, bench.options.rounds)
    engine.close()
    row = spread("page through the engine, p50 ms", took, literal, ("engine", "page"), 0.5)
    bench.table.add(row)
    hop = spread("page through MCP over HTTP, p50 ms", took, literal, ("http", "engine"), 0.5)
    note = f"the hop alone {hop.ours - (hop.theirs or 0):.2f}; {served.engine}"
    print("  (the second column of the first is the provider's page, of the next the engine's)")
    bench.table.add(Row(hop.what, hop.ours, hop.theirs, hop.middle, note))


def paired(what: str, ours: list[float], theirs: list[float]) -> Row:
    if not theirs:
        return Row(what, min(ours))
    middle = statistics.median(ours) / statistics.median(theirs)
    return Row(what, min(ours), min(theirs), middle)


def profile(bench: Bench) -> None:
    """Our page queries alone, under cProfile."""
    bench.build_ours("all", bench.clone.commits)
    queries = Corpus(bench.clone, bench.last).queries(bench.options.seed, bench.options.each)
    searcher = bench.searcher("all")
    for query in queries:
        searcher.search(bench.last, query.text, PAGE)
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(bench.options.rounds):
        for query in queries:
            searcher.search(bench.last, query.text, PAGE)
    profiler.disable()
    statistic = pstats.Stats(profiler)
    statistic.sort_stats("tottime").print_stats(35)
    statistic.sort_stats("cumulative").print_stats(35)


def say(what: str) -> None:
    now = datetime.datetime.now().astimezone()
    print(f"  {what} from {now:%H:%M:%S}, load average {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    options = arguments(__doc__)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    recorded = load_recorded()
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores, seed {options.seed}")
    for repository, refs in options.repositories:
        with tempfile.TemporaryDirectory() as folder:
            clone = clone_of(repository, refs, Path(folder) / "clone")
            known = {} if options.zoekt else dict(recorded.get(clone.name, {}))
            if known:
                print(f"recorded {known.pop('when')}: {known.pop('conditions')}")
            rival = "Zoekt" if options.zoekt else "git grep"
            ratios = {what: float(ratio) for what, ratio in known.items()}
            table = Table(clone.name, rival, ratios)
            bench = Bench(clone, Path(folder), options.zoekt, options, table)
            if options.profile:
                profile(bench)
                continue
            run(bench)
            load = f"load average {os.getloadavg()[0]:.1f} at its end"
            print(load)
            if options.record and options.zoekt:
                day = f"{datetime.datetime.now().astimezone():%Y-%m-%d}"
                save_recorded(clone.name, day, f"{load}, {len(refs)} versions", table.ratios)


if __name__ == "__main__":
    main()
