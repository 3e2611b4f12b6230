from threading import Event

import pytest

from vacmcpd.adapters.graphless import NoGraph, NoGraphBuilder
from vacmcpd.errors import Cancelled, LifecycleError, QueryError
from vacmcpd.model import Member, Scope
from vacmcpd.ports.artifacts import StoredFile
from vacmcpd.ports.budget import Budget
from vacmcpd.ports.builders import BuildTarget, StoreState
from vacmcpd.ports.graph import Direction, TraceQuery

TARGET = BuildTarget("c", "flask", "main", "1" * 40)
QUERY = TraceQuery("main", Direction.CALLERS, 1)


def test_the_graph_engine_none_records_that_there_is_no_graph() -> None:
    builder = NoGraphBuilder()
    built = builder.build(TARGET, StoreState(), lambda *_: None, None)
    assert built.artifact.label == "none/0"
    assert built.artifact.revision == TARGET.revision
    assert built.coverage is None
    assert built.note == "no call graph: the graph engine is none"
    builder.verify(TARGET, built.artifact, StoreState())


def test_it_leaves_the_files_of_other_engines_where_they_are() -> None:
    files = (StoredFile("segment.0", "a" * 64, 3),)
    assert NoGraphBuilder().prune("flask", StoreState(files)) == files


def test_a_record_of_another_commit_does_not_verify() -> None:
    builder = NoGraphBuilder()
    other = builder.build(
        BuildTarget("c", "flask", "main", "2" * 40), StoreState(), lambda *_: None, None
    )
    with pytest.raises(LifecycleError) as caught:
        builder.verify(TARGET, other.artifact, StoreState())
    assert caught.value.details["actual_revision"] == "2" * 40


def test_a_trace_is_refused_with_the_reason_and_the_command() -> None:
    scope = Scope("c", Member("flask", "main", "1" * 40))
    with pytest.raises(QueryError) as caught:
        NoGraph().trace(scope, QUERY, Budget("trace", "none", 1))
    assert caught.value.code == "GRAPH_PROVIDER_UNAVAILABLE"
    assert "none/0" in caught.value.message
    assert "vacmcp context rebuild c" in caught.value.message
    assert caught.value.details == {"context": "c", "repository": "flask"}


def test_a_cancelled_trace_is_cancelled() -> None:
    gone = Event()
    gone.set()
    with pytest.raises(Cancelled):
        NoGraph().trace(
            Scope("c", Member("flask", "main", "1" * 40)), QUERY, Budget("trace", "none", 1, gone)
        )
