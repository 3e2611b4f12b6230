import threading

import pytest

from vacmcpd.errors import Cancelled, OperationTimeout
from vacmcpd.ports.budget import Budget


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_budget_is_positive(seconds: float) -> None:
    with pytest.raises(ValueError, match="budget"):
        Budget("read", "git", seconds)


def test_a_spent_budget_names_what_overran() -> None:
    budget = Budget("read", "git", 1e-9)
    while not budget.expired():
        pass
    assert budget.remaining() == 0
    with pytest.raises(OperationTimeout) as caught:
        budget.check()
    assert caught.value.details["operation"] == "read"


def test_a_cancelled_budget_says_so_before_it_says_it_is_late() -> None:
    flag = threading.Event()
    budget = Budget("read", "git", 1e-9, flag)
    flag.set()
    with pytest.raises(Cancelled):
        budget.check()


def test_a_fresh_budget_lets_work_go_on() -> None:
    budget = Budget("read", "git", 60, threading.Event())
    budget.check()
    assert 59 < budget.remaining() <= 60
