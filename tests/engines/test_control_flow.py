"""Branches, loops and lists, written with coremltools' builder."""

from __future__ import annotations

import coremltools as ct
import numpy as np
import pytest
from coremltools.converters.mil import Builder

from tests.engines.converted import compile_source, mil_program, run


def looped(x, times):
    """Double ``x`` as long as a counter is below ``times``, and count."""

    def goes_on(counter, value):
        return Builder.less(x=counter, y=times)

    def body(counter, value):
        return Builder.add(x=counter, y=1), Builder.mul(x=value, y=Builder.add(x=x, y=x))

    return Builder.while_loop(_cond=goes_on, _body=body, loop_vars=(0, x))


def test_a_loop_runs_as_often_as_its_condition_says() -> None:
    source = mil_program(looped, {"x": ("float32", (2,)), "times": ("int32", (1,))})
    session = compile_source(source).new_session()
    x = np.array([1.5, -0.5], np.float32)
    for times in (0, 1, 4):
        count, value = session.run("main", [x, np.array([times], np.int32)])
        assert int(count) == times
        np.testing.assert_allclose(value, x * (2 * x) ** times, rtol=1e-6)


def branched(x, flag):
    return Builder.cond(
        pred=Builder.squeeze(x=flag),
        _true_fn=lambda: Builder.mul(x=x, y=2.0),
        _false_fn=lambda: Builder.sub(x=x, y=Builder.reduce_mean(x=x, axes=[0])),
    )


def test_a_branch_uses_what_is_around_it() -> None:
    source = mil_program(
        lambda x, number: branched(x, Builder.greater(x=number, y=0.0)),
        {"x": ("float32", (3,)), "number": ("float32", (1,))},
    )
    x = np.array([1, 2, 6], np.float32)
    (yes,), (no,) = (run(source, x, np.array([n], np.float32)) for n in (1, -1))
    np.testing.assert_array_equal(yes, x * 2)
    np.testing.assert_array_equal(no, x - 3)


def nested(x, times):
    """A branch inside a loop, which sees the loop's variables and the function's inputs."""

    def body(counter, value):
        odd = Builder.equal(x=Builder.mod(x=counter, y=2), y=1)
        new = Builder.cond(
            pred=Builder.squeeze(x=odd),
            _true_fn=lambda: Builder.mul(x=value, y=2.0),
            _false_fn=lambda: Builder.add(x=value, y=x),
        )
        return Builder.add(x=counter, y=1), new

    start = Builder.mul(x=times, y=0)
    loop = Builder.while_loop(
        _cond=lambda counter, value: Builder.less(x=counter, y=times),
        _body=body,
        loop_vars=(start, x),
    )
    return loop[1]


def test_blocks_in_blocks() -> None:
    source = mil_program(nested, {"x": ("float32", (2,)), "times": ("int32", (1,))})
    x = np.array([1, 3], np.float32)
    (value,) = run(source, x, np.array([4], np.int32))
    np.testing.assert_array_equal(value, ((x + x) * 2 + x) * 2)


def listed(a, b):
    ls = Builder.make_list(init_length=2, elem_shape=(2,))
    first = Builder.list_read(ls=ls, index=0)
    ls = Builder.list_write(ls=ls, index=0, value=a)
    ls = Builder.list_write(ls=ls, index=4, value=b)
    ls = Builder.list_scatter(ls=ls, indices=[2, 1], value=np.float32([[-1, -2], [-4, -5]]))
    length = Builder.expand_dims(x=Builder.list_length(ls=ls), axes=[0])
    return first, length, Builder.list_gather(ls=ls, indices=[4, 2, 3, 0])


def test_a_list_grows_where_it_is_written() -> None:
    source = mil_program(listed, {"a": ("float32", (2,)), "b": ("float32", (2,))}, ct.target.iOS15)
    a, b = np.array([1, 3], np.float32), np.array([2, 4], np.float32)
    first, length, gathered = run(source, a, b)
    np.testing.assert_array_equal(first, [0, 0])
    assert length == [5]
    np.testing.assert_array_equal(gathered, [b, [-1, -2], [0, 0], a])


def collected(x, times):
    """A list that every round of a loop appends to."""

    def body(counter, ls):
        scaled = Builder.mul(x=x, y=Builder.cast(x=counter, dtype="fp32"))
        index = Builder.squeeze(x=counter)
        return Builder.add(x=counter, y=1), Builder.list_write(ls=ls, index=index, value=scaled)

    start = Builder.mul(x=times, y=0)
    _, ls = Builder.while_loop(
        _cond=lambda counter, ls: Builder.less(x=counter, y=times),
        _body=body,
        loop_vars=(start, Builder.make_list(init_length=1, elem_shape=(2,))),
    )
    length = Builder.list_length(ls=ls)
    return Builder.list_gather(ls=ls, indices=Builder.range_1d(start=0, end=length, step=1))


@pytest.mark.parametrize("times", [1, 3])
def test_a_list_goes_through_a_loop(times) -> None:
    source = mil_program(
        collected, {"x": ("float32", (2,)), "times": ("int32", (1,))}, ct.target.iOS15
    )
    x = np.array([1, 2], np.float32)
    (gathered,) = run(source, x, np.array([times], np.int32))
    np.testing.assert_array_equal(gathered, [x * i for i in range(times)])
