"""Three movements for so many pairs and so much time, each with what a director asks about it.

Every movement that this program can make is weighed: how many boards fit into the time, how long a sit-out is, whether
tables share, how many copies the dealer must make, how fair a single ranking is. The best with two winners, the best
with one and the best of another kind are offered, the same three every time for the same question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from firmware_bridge.errors import EntryError, ExitStatus
from terminals.movement import families
from terminals.movement.catalog import build
from terminals.movement.howell import HOWELL
from terminals.movement.mitchell import MAX_TABLES, ODD, SHARE, SKIP
from terminals.movement.model import Movement
from terminals.movement.sections import divide
from terminals.movement.three_quarter import THREE_QUARTER, three_quarter_rounds
from terminals.movement.verify import Report, verify

MINUTES_PER_BOARD = 7
MINUTES_PER_MOVE = 2
MAX_MINUTES = 24 * 60
FAR_WORSE = 75  # a movement that costs this much more is not offered only for being of another kind


@dataclass(frozen=True, slots=True)
class Question:
    """pairs: 3 to 200. minutes: from the first board to the end of the last round. boards: at hand, 0 = any number.

    copies: of each board that the dealer is willing to make. winners: 0 = either.
    """

    pairs: int
    minutes: int
    minutes_per_board: int = MINUTES_PER_BOARD
    minutes_per_move: int = MINUTES_PER_MOVE
    boards: int = 0
    copies: int = 4
    winners: int = 0

    def duration(self, rounds: int, set_size: int) -> int:
        """Minutes that so many rounds of so many boards take; after the last round nobody moves."""
        return rounds * set_size * self.minutes_per_board + (rounds - 1) * self.minutes_per_move


@dataclass(frozen=True, slots=True)
class Proposal:
    """A movement and the answers to a director's questions.

    spec: text for ``catalog.build``. minutes: playing time. boards: in play. least_boards, most_boards: played by a
    pair. sit_outs: rounds that somebody sits out, sit_out_boards: the longest of a pair, in boards. shared_rounds:
    rounds in which tables share. fairness: competition variance per set inside a ranking; 0 is perfect. It grows with
    the field, so compare it only between movements for the same number of pairs.
    """

    spec: str
    movement: Movement
    minutes: int
    boards: int
    least_boards: int
    most_boards: int
    sit_outs: int
    sit_out_boards: int
    shared_rounds: int
    copies: int
    winners: int
    fairness: float
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """JSON values, for pages and the command."""
        m = self.movement
        return {
            "movement": m.name,
            "spec": self.spec,
            "kind": m.kind,
            "tables": m.tables,
            "rounds": m.rounds,
            "boards_per_round": m.boards_per_round,
            "minutes": self.minutes,
            "boards": self.boards,
            "boards_played": [self.least_boards, self.most_boards],
            "sit_outs": self.sit_outs,
            "sit_out_boards": self.sit_out_boards,
            "shared_rounds": self.shared_rounds,
            "copies": self.copies,
            "winners": self.winners,
            "fairness": float(f"{self.fairness:.2f}"),
            "remarks": list(self.remarks),
            "announce": list(m.notes),
        }


@dataclass(frozen=True, slots=True)
class _Candidate:
    kind: str
    rounds: int
    set_size: int
    sets: int
    winners: int
    copies: int
    penalty: int
    spec: str


def propose(question: Question) -> tuple[Proposal, ...]:
    """Up to three proposals, the first the one that this program would play.

    Raises EntryError (exit status USAGE) that names the numbers when nothing fits.
    """
    ranked = _ranked(question)
    chosen: list[_Candidate] = []
    for wanted in (2, 1):
        best = next((c for c in ranked if c.winners == wanted), None)
        if best is not None and _cost(best, question) < _cost(ranked[0], question) + FAR_WORSE:
            chosen.append(best)
    chosen.sort(key=ranked.index)
    for candidate in ranked:
        new = (candidate.kind, candidate.winners) not in {(c.kind, c.winners) for c in chosen}
        if new and len(chosen) < 3 and _cost(candidate, question) < _cost(ranked[0], question) + FAR_WORSE:
            chosen.append(candidate)
    for candidate in ranked:  # a small room has few kinds: other lengths of the same then
        if len(chosen) < 3 and candidate not in chosen:
            chosen.append(candidate)
    return tuple(_proposal(candidate.spec, question) for candidate in chosen)


def propose_sections(question: Question, sections: int) -> tuple[tuple[Proposal, ...], ...]:
    """Up to three ways to play in several sections at once: in each, one movement per section, as equal as possible.

    All sections have the same rounds, the same number of boards a round and the same number of winners, so that the
    room moves together and results can be compared across the field. copies in the question are those of one section.
    Raises EntryError (exit status USAGE) when nothing fits.
    """
    sizes = divide(question.pairs, sections)
    best: list[dict[tuple[int, int, int], _Candidate]] = []
    for size in sizes:
        part = replace(question, pairs=size)
        found: dict[tuple[int, int, int], _Candidate] = {}
        for candidate in _ranked(part):
            found.setdefault((candidate.rounds, candidate.set_size, candidate.winners), candidate)
        best.append(found)
    together = [key for key in best[0] if all(key in found for found in best)]
    if not together:
        raise EntryError(
            f"{sections} sections of {', '.join(str(size) for size in sizes)} pairs have no rounds in common.",
            next_step="Take another number of sections, or propose each on its own.",
            code="no-movement-fits",
            exit_status=ExitStatus.USAGE,
        )
    cost = {key: sum(_cost(found[key], question) for found in best) for key in together}
    together.sort(key=lambda key: (cost[key], key))
    return tuple(
        tuple(
            _proposal(found[key].spec, replace(question, pairs=size)) for size, found in zip(sizes, best, strict=True)
        )
        for key in together[:3]
    )


def _ranked(question: Question) -> list[_Candidate]:
    """All candidates, the best first. Raises EntryError when there is none."""
    _check(question)
    ranked = sorted(_candidates(question), key=lambda c: (_cost(c, question), c.kind, c.rounds, c.set_size, c.winners))
    if question.winners:
        ranked = [c for c in ranked if c.winners == question.winners]
    if not ranked:
        least = question.duration(3 if question.pairs <= 4 else (question.pairs + 1) // 2, 1)
        boards = f" and {question.boards} boards" if question.boards else ""
        raise EntryError(
            f"No movement for {question.pairs} pairs fits into {question.minutes} minutes{boards}, "
            f"{question.copies} copies of a board at most.",
            next_step="Divide the pairs into sections, or allow more copies."
            if question.pairs > 40
            else f"Give about {least} minutes, or fewer minutes a board than {question.minutes_per_board}.",
            code="no-movement-fits",
            exit_status=ExitStatus.USAGE,
        )
    return ranked


def _check(q: Question) -> None:
    for name, value, least, most in (
        ("pairs", q.pairs, 3, 2 * MAX_TABLES),
        ("minutes", q.minutes, 1, MAX_MINUTES),
        ("minutes a board", q.minutes_per_board, 1, 60),
        ("minutes for a move", q.minutes_per_move, 0, 60),
        ("boards", q.boards, 0, 999),
        ("copies", q.copies, 1, 20),
        ("winners", q.winners, 0, 2),
    ):
        if not least <= value <= most:
            raise EntryError(
                f"{value} {name} can't be: {least} to {most}.", code="bad-question", exit_status=ExitStatus.USAGE
            )


def _candidates(q: Question) -> Iterator[_Candidate]:
    """Every movement that fits into time, boards and copies."""
    tables, odd = (q.pairs + 1) // 2, q.pairs % 2 == 1
    for size in range(1, 13):
        for candidate in (
            *_mitchells(q, tables, odd, size),
            *_one_winner(q, tables, odd, size),
            *_large(q, tables, odd, size),
        ):
            fits = q.duration(candidate.rounds, size) <= q.minutes and candidate.copies <= q.copies
            if fits and (not q.boards or candidate.sets * size <= q.boards):
                yield candidate


def _both(kind: str, rounds: int, size: int, sets: int, copies: int, penalty: int, spec: str) -> Iterator[_Candidate]:
    """A two-winner movement as it is, and with the computed arrow switch."""
    yield _Candidate(kind, rounds, size, sets, 2, copies, penalty, spec)
    if rounds >= 4:
        yield _Candidate(kind, rounds, size, sets, 1, copies, penalty + 2, f"{spec},switch=best")


def _mitchells(q: Question, tables: int, odd: bool, size: int) -> Iterator[_Candidate]:
    ns, ew = (",missing=ns", ",missing=ew") if odd else ("", "")
    for rounds in range(max(2, -(-7 * tables // 10)), tables + 1):
        shorter = f",rounds={rounds}" if rounds < tables else ""
        if tables % 2:
            yield from _both(ODD, rounds, size, tables, 1, 0, f"mitchell:{tables}x{size}{shorter}{ew}")
            continue
        yield from _both(SHARE, rounds, size, tables, 1, 0 if odd else 4, f"share:{tables}x{size}{shorter}{ns}")
        if rounds < tables:
            yield from _both(SKIP, rounds, size, tables, 1, 2, f"skip:{tables}x{size}{shorter}{ew}")
        elif tables >= 6:
            yield from _both(families.BYE_STAND, tables, size, tables + 2, 1, 3, f"bye-stand:{tables}x{size}{ew}")
    below = tables - 1
    if odd and below >= 4:
        rounds = below - (below % 2 == 0)
        yield from _both(families.ROVER, rounds, size, below, 1, 3, f"rover:{below}x{size}")


def _one_winner(q: Question, tables: int, odd: bool, size: int) -> Iterator[_Candidate]:
    n, half = 2 * tables - 1, ",half=yes" if odd else ""
    if tables <= 10:
        yield _Candidate(HOWELL, n, size, n, 1, 1, 3 if tables == 3 else 0, f"howell:{tables}x{size}{half}")
    for rounds in three_quarter_rounds(tables):
        spec = f"three-quarter-howell:{tables}x{size},rounds={rounds}{half}"
        yield _Candidate(THREE_QUARTER, rounds, size, rounds, 1, 1, 2, spec)
    if tables % 2 and tables >= 5:
        spec = f"hesitation:{tables}x{size}{half}"
        yield _Candidate(families.HESITATION, tables + 1, size, tables + 1, 1, 1, 3, spec)


def _large(q: Question, tables: int, odd: bool, size: int) -> Iterator[_Candidate]:
    for sets in range(5, 17, 2):
        if tables < sets + (tables % 2):
            continue
        upward = tables // 2 if tables % 2 == 0 else (tables + sets) // 2
        copies = -(-upward // sets) + -(-(tables - upward) // sets)
        spec = f"web:{tables}x{size},sets={sets}" + (",missing=ew" if odd else "")
        yield from _both(families.WEB, sets, size, sets, copies, 2 + copies, spec)
    if not odd and tables % 4 == 2 and tables >= 10:
        yield _Candidate(families.SCISSORS, tables // 2, size, tables // 2, 1, 2, 6, f"scissors:{tables}x{size}")


def _cost(c: _Candidate, q: Question) -> int:
    """Tenths of an arbitrary unit: lost time, odd set sizes, boards in play that a pair misses, and the kind itself."""
    lost = q.minutes - q.duration(c.rounds, c.set_size)
    boards = c.rounds * c.set_size
    size = 0 if 2 <= c.set_size <= 4 else 60 if c.set_size == 1 else 25 * (c.set_size - 4)
    missed = 100 * (c.sets - c.rounds) // c.sets
    many = max(0, boards - 32) * 10
    sit_out = 6 * c.set_size if q.pairs % 2 else 0
    moves = 4 * max(0, c.rounds - 9)
    return lost * 3 // 2 + moves + size + missed * 2 + many + sit_out + 10 * c.penalty


def _proposal(spec: str, q: Question) -> Proposal:
    movement = build(spec)
    report = verify(movement)
    counts = [len(movement.boards_of(pair)) for pair in movement.pairs]
    longest = max((sum(len(s.boards) for s in movement.sits_out(pair)) for pair in movement.pairs), default=0)
    return Proposal(
        spec=spec,
        movement=movement,
        minutes=q.duration(movement.rounds, movement.boards_per_round),
        boards=len(movement.board_numbers),
        least_boards=min(counts),
        most_boards=max(counts),
        sit_outs=len({s.round for s in movement.sit_outs}),
        sit_out_boards=longest,
        shared_rounds=len({s.round for s in movement.shares}),
        copies=max(movement.copies_to_deal().values()),
        winners=movement.winners,
        fairness=_fairness(movement, report),
        remarks=tuple(w.message for w in report.warnings if w.property not in (9, 11)),
    )


def _fairness(movement: Movement, report: Report) -> float:
    """Of one ranking the competition variance per set, of two the larger of both."""
    found = [report.balance] if movement.winners == 1 else [balance for _, balance in report.balance_by_group]
    return float(max((balance.per_set for balance in found if balance is not None), default=0))
