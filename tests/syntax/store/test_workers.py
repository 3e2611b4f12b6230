"""Parsing in processes that die, hang, or never start."""

import sys
import threading
import time

import pytest
from store.places import HERE

from vacmcpd.adapters.syntax import worker
from vacmcpd.adapters.syntax import workers as module
from vacmcpd.adapters.syntax.making import home_of
from vacmcpd.adapters.syntax.parsing import parse
from vacmcpd.adapters.syntax.skips import Skip
from vacmcpd.adapters.syntax.store.coding import unpack_facts as decode
from vacmcpd.adapters.syntax.worker import Job
from vacmcpd.adapters.syntax.workers import Workers
from vacmcpd.errors import BuildCode, Cancelled, LifecycleError

ODD = (sys.executable, str(HERE / "odd_worker.py"))


def job(text):
    return Job("python", home_of("python"), text.encode())


def run(jobs, *, processes=1, command=ODD, poll=lambda: None):
    with Workers(processes, command=command, poll=poll) as workers:
        return list(workers.parse(jobs))


def names(parsed):
    """The functions of a file, or why it has none."""
    if parsed.skip:
        return parsed.skip
    return [scope.name for scope in decode(parsed.facts).scopes[1:]]


def function(name, more=""):
    return job(f"def {name}():\n    pass\n# {more}\n")


def test_files_are_parsed_in_their_order_by_any_number_of_processes(monkeypatch):
    monkeypatch.setattr(module, "BATCH_BYTES", 200)
    jobs = [function(f"f{at}") for at in range(60)]
    expected = [[f"f{at}"] for at in range(60)]
    for processes in (1, 2, 3):
        assert [names(each) for each in run(jobs, processes=processes)] == expected


@pytest.mark.parametrize(
    ("word", "reason"),
    [("DIE", Skip.CRASHED), ("EAT", Skip.CRASHED), ("BUG", Skip.CRASHED)],
)
def test_a_file_that_ends_its_process_is_given_up_and_no_other(word, reason):
    jobs = [function("before"), function("bad", word), function("after"), function("last")]
    found = run(jobs, processes=2)
    assert [names(each) for each in found] == [["before"], reason, ["after"], ["last"]]


def test_a_mistake_of_an_extractor_costs_one_file(monkeypatch):
    monkeypatch.setattr(worker, "parse", mistaken)
    assert worker.parsed(job("good = 1\n")).skip == ""
    assert worker.parsed(job("BUG\n")).skip == Skip.CRASHED


def mistaken(language, content):
    if b"BUG" in content:
        raise KeyError("a kind of node that nobody thought of")
    return parse(language, content)


def test_a_file_is_tried_once_more(tmp_path, monkeypatch):
    monkeypatch.setenv("ODD_WORKER_MARK", str(tmp_path / "mark"))
    found = run([function("before"), function("shy", "ONCE"), function("after")])
    assert [names(each) for each in found] == [["before"], ["shy"], ["after"]]
    assert (tmp_path / "mark").exists()


def test_a_file_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 1.0)
    started = time.monotonic()
    found = run([function("before"), function("slow", "HANG"), function("after")])
    assert [names(each) for each in found] == [["before"], Skip.TIMEOUT, ["after"]]
    assert time.monotonic() - started < 60


def test_what_is_printed_while_parsing_is_no_answer():
    assert [names(each) for each in run([function("loud", "SAY")])] == [["loud"]]


def test_a_process_that_does_not_start_fails_the_build_with_what_it_said():
    with pytest.raises(LifecycleError) as caught:
        run([function("f")], command=(*ODD, "--silent"))
    assert caught.value.code is BuildCode.INTERRUPTED
    assert "no grammar of this platform" in caught.value.message


def test_an_interpreter_that_is_not_there_fails_the_build():
    with pytest.raises(LifecycleError) as caught:
        run([function("f")], command=("/does/not/exist",))
    assert caught.value.code is BuildCode.INTERRUPTED
    assert "No such file" in caught.value.message


def test_a_cancelled_parse_ends_at_once_and_leaves_no_process(monkeypatch):
    monkeypatch.setattr(module, "_TICK", 0.01)
    flag = threading.Event()

    def poll():
        flag.wait(0.05)
        raise Cancelled("gone")

    started = time.monotonic()
    workers = Workers(1, command=ODD, poll=poll)
    with pytest.raises(Cancelled), workers:
        list(workers.parse([function("slow", "HANG")]))
    assert time.monotonic() - started < 30
    assert not [each for each in threading.enumerate() if each.name.startswith("parse")]


def test_no_file_needs_no_process():
    assert run([], command=("does-not-exist",)) == []


def test_nesting_without_end_is_a_reason_or_facts():
    deep = "[" * 200_000 + "]" * 200_000
    (found,) = run([job(f"x = {deep}\n")])
    assert names(found) in ([], Skip.TOO_DEEP, Skip.CRASHED)
