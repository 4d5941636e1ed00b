"""The public model of a recovery task: what is owed, what providers promise, what may have happened.

Everything here is known to the controller. Hidden is only which alternative of each operation is the real one
(sections 3.1 to 3.3 and A.1 of the recovery paper). Times are integers of one unit, the task's own; zero is
the moment at which recovery begins, and what lies before it is negative. Weights are positive integers, so
that probabilities are exact.
"""

from __future__ import annotations

from enum import Enum

import msgspec

OPERATIONS = 12
"""As many operations may a task have."""
SUPPORT = 4096
"""As many members may a support have."""
LIMIT = 2**62
"""No number of a task is as large as this."""


class ModelError(ValueError):
    """A task that this profile cannot represent. ``field`` is the place of the fault in the task."""

    def __init__(self, field: str, problem: str) -> None:
        """``field`` as in ``operations[2].after``."""
        super().__init__(f"{field}: {problem}")
        self.field = field


class EffectClass(str, Enum):
    """What a second write of the same operation does."""

    APPEND = "append"  # it adds one more: a dose, a pulse, a line in a log
    REPLACE = "replace"  # it leaves the same: a set point, a door that is open


class Reply(str, Enum):
    """What the caller is told of an attempt."""

    DONE = "done"
    FAILED = "failed"
    LOST = "lost"  # no usable answer
    KNOWN = "known"  # a repeat, recognized by its key and not carried out; no alternative declares it


class Authorization(str, Enum):
    """When the provider last checks that it may."""

    ACCEPTANCE = "acceptance"
    COMMIT = "commit"


class EventKind(str, Enum):
    """What is to happen to a target."""

    WRITE = "write"
    UNDO = "undo"


class Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of all parts of a task: values without fields that nobody knows."""


class Expense(Value, frozen=True):
    """What one action takes: synthetic fee units, and time."""

    fee: int = 1
    duration: int = 1


class Promises(Value, frozen=True):
    """What a provider promises, in the words of ``contracts.model.Promises``; silence promises nothing."""

    key_lifetime: int = 0  # how long a repeat with the key of the operation is recognized; 0: not at all
    undo_key_lifetime: int = 0  # the same of a repeated compensation
    query: bool = False  # the present state can be asked for
    authoritative: bool = True  # the answer counts; else it says nothing
    final: bool = False  # the answer also says whether anything is still to come or to become visible
    final_on_result: bool = False  # after an answer other than LOST nothing is still to come
    commit_bound: int | None = None  # an effect comes within this of its acceptance, or never
    visibility_delay: int = 0  # an effect shows in an answer at most this much later
    authorization: Authorization = Authorization.ACCEPTANCE
    enforced: bool = False  # the provider itself refuses what is no longer authorized
    reversible: bool = False  # the effect can be taken back, and the task approves that


class Outcome(Value, frozen=True):
    """What becomes of one attempt."""

    ok: bool = True  # the request is accepted and has its effect
    reply: Reply = Reply.DONE
    delay: int = 0  # from acceptance to effect
    copies: int = 1  # effects that it has, where it appends


class Past(Value, frozen=True):
    """A request from before recovery began: its effect has come, will come, or nothing is known of when.

    ``commit_at`` of None is a sentinel: the effect is under way and no time is known for it. It never comes
    while the model runs, and as long as it stands nothing that depends on it is certain.
    """

    commit_at: int | None
    kind: EventKind = EventKind.WRITE
    accepted_at: int = 0
    copies: int = 1
    keyed: bool = True  # the provider kept its key


class Alternative(Value, frozen=True):
    """One way in which an operation may have begun and would go on. The last outcome repeats for ever."""

    id: str
    weight: int = 1
    past: tuple[Past, ...] = ()
    visible_after: int = 0  # from an effect to its showing
    writes: tuple[Outcome, ...] = (Outcome(),)
    undos: tuple[Outcome, ...] = (Outcome(),)


class Operation(Value, frozen=True):
    """An approved obligation, and everything that is declared of it."""

    id: str
    target: str
    after: tuple[str, ...] = ()  # operations that must have their goal value when this one takes effect
    goal: int = 1  # 1: the effect is there once; 0: it is not there
    effect: EffectClass = EffectClass.APPEND
    key: str = ""  # under which repeats are recognized; empty: none
    promises: Promises = Promises()
    write: Expense = Expense()
    undo: Expense = Expense()
    query: Expense = Expense()
    authorized_until: int | None = None  # what is accepted, or takes effect, from then on is unauthorized
    attempts: int | None = None  # so many more writes are approved; None: only other limits count
    alternatives: tuple[Alternative, ...] = (Alternative("none"),)


class Member(Value, frozen=True):
    """One member of a joint support: an alternative for each operation, in the order of the task."""

    alternatives: tuple[str, ...]
    weight: int = 1


class Task(Value, frozen=True):
    """A recovery task. Without ``support`` the alternatives are independent, and every combination counts."""

    id: str
    operations: tuple[Operation, ...]
    deadline: int
    fees: int  # fee units that recovery may spend
    actions: int  # actions that it may take
    writes: int | None = None  # of these, so many writes; None: as many as there are actions
    queries: int | None = None  # and so many queries
    waits: tuple[Expense, ...] = (Expense(0, 1),)  # the waits that can be chosen
    hand_over: Expense = Expense(1, 0)
    support: tuple[Member, ...] = ()
    tie: int = 1000  # so much time weighs as much as one fee unit: cost is counted in 1/tie of a fee unit


class ActionKind(str, Enum):
    """What a controller may do."""

    QUERY = "query"
    WRITE = "write"
    UNDO = "undo"
    WAIT = "wait"
    HAND_OVER = "hand_over"


class Action(msgspec.Struct, frozen=True, order=True):
    """One public action. ``subject`` is an operation; for a wait, the number of the wait."""

    kind: ActionKind
    subject: int = -1

    def name(self, task: Task) -> str:
        """In words: ``write heat``, ``wait 5``."""
        if self.kind is ActionKind.WAIT:
            return f"wait {task.waits[self.subject].duration}"
        if self.kind is ActionKind.HAND_OVER:
            return "hand over"
        return f"{self.kind.value} {task.operations[self.subject].id}"


HAND_OVER = Action(ActionKind.HAND_OVER)


def expense(task: Task, action: Action) -> Expense:
    """What an action takes."""
    if action.kind is ActionKind.HAND_OVER:
        return task.hand_over
    if action.kind is ActionKind.WAIT:
        return task.waits[action.subject]
    found: Expense = getattr(task.operations[action.subject], action.kind.value)
    return found
