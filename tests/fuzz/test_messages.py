"""Bytes that are no message of a worker, or a damaged one: MessageDamaged, nothing else."""

from hypothesis import given
from hypothesis import strategies as st

from fuzzing import cases, limits, mutated
from random_messages import messages
from rookery.workers import Failed, Heartbeat, Message, MessageDamaged, Ready, pack, unpack
from worker_functions import Count, Echo

CLASSES: tuple[type[Message], ...] = (Ready, Heartbeat, Failed, Count, Echo)


@cases(0.18)
@given(st.sampled_from(CLASSES).flatmap(messages).flatmap(lambda found: mutated(pack(found))))
def test_a_damaged_message_is_refused(payload: bytes) -> None:
    try:
        with limits():
            unpack(payload)
    except MessageDamaged as error:
        assert "\n" not in str(error)
