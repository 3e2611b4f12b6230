import pickle

import pytest

from vacmcpd import errors
from vacmcpd.errors import BuildCode, VacmcpError, WireCode

ONE_OF_EACH: list[VacmcpError] = [
    errors.QueryError(WireCode.CONTEXT_NOT_FOUND, "no such context", {"context": "x"}),
    errors.OperationTimeout("read", "git", 1.5),
    errors.LifecycleError(BuildCode.AUTH_FAILED, "the remote refused", {"repository": "r"}),
    errors.Locked("held by pid 1", {"pid": 1}),
    errors.IllegalTransition("c", "READY", "BUILDING"),
    errors.Cancelled(),
    errors.invalid_argument("bad", path="x"),
    errors.source_mismatch("r", "a" * 40, None, "gone"),
]


@pytest.mark.parametrize("error", ONE_OF_EACH, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_whole(error: VacmcpError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (again.code, again.message, again.details) == (error.code, error.message, error.details)


def test_every_wire_code_is_a_build_code_too() -> None:
    assert {str(code) for code in WireCode} <= {str(code) for code in BuildCode}
    assert len(WireCode) == 13


def test_a_timeout_says_exactly_operation_provider_and_budget() -> None:
    error = errors.OperationTimeout("read", "git", 1.5)
    assert error.details == {"operation": "read", "provider": "git", "timeout_ms": 1500}


def test_the_envelope_has_one_shape_with_sorted_details() -> None:
    wire = errors.QueryError(WireCode.INVALID_ARGUMENT, "m", {"b": 1, "a": 2}).to_wire()
    assert list(wire) == ["error"]
    assert list(wire["error"]) == ["code", "message", "details"]
    assert list(wire["error"]["details"]) == ["a", "b"]
    assert errors.QueryError(WireCode.INVALID_ARGUMENT, "m").to_wire()["error"]["details"] == {}
