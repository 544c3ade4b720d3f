"""Soaks that must fail: one safety check is left out, the machine has the flaw that this check is there for.

A machine of good quality catches much by itself, and the checks of the host back each other up; so each control
spoils the machine's own program until the one check that is left out was the last that stood between the fault and a
board called good. With the check in place the same run must have no wrong board.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from dealer.duplication.checks import Checks
from firmware_bridge.simulation.dealing_faults import Rates
from firmware_bridge.simulation.dealing_room import FirmwareFlaw, SoakMachine
from firmware_bridge.simulation.soak_dealing import SoakOptions, SoakResult, soak
from hwsim.machine.firmware import Firmware
from hwsim.machine.mechanics import Transit
from hwsim.machine.pack import CODE, Reading, face
from hwsim.numbers import Action, Capability, FaultCode, Kind, Reason, Segment

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Control:
    """check: the field of ``Checks`` that is left out. rates: what goes wrong. without: sensors that are missing."""

    check: str
    rates: Rates
    flaws: tuple[FirmwareFlaw, ...] = ()
    without: int = 0
    boards: int = 24

    def run(self, seed: int, *, checked: bool) -> SoakResult:
        """The soak with the check in place, or without it."""

        def flaw(machine: SoakMachine, firmware: Firmware) -> None:
            for spoil in self.flaws:
                spoil(machine, firmware)

        checks = Checks() if checked else Checks.without(self.check)
        return soak(
            SoakOptions(self.boards, self.rates, seed, without=self.without, checks=checks, flaw=flaw, excuses=False)
        )


# --- flaws -------------------------------------------------------------------------------------------------------


def _edit(kind: int, change: Callable[[SoakMachine, Firmware, Fields], Fields | None]) -> FirmwareFlaw:
    """Messages of this kind leave the machine changed, or not at all (None)."""

    def flaw(machine: SoakMachine, firmware: Firmware) -> None:
        send = firmware._send

        def spoiled(sent: int, fields: Fields) -> bool:
            if sent != kind:
                return send(sent, fields)
            changed = change(machine, firmware, dict(fields))
            return True if changed is None else send(sent, changed)

        firmware._send = spoiled

    return flaw


def _overlook(*faults: FaultCode) -> FirmwareFlaw:
    """The machine does not stop for these."""

    def flaw(machine: SoakMachine, firmware: Firmware) -> None:
        stop = firmware._stop

        def lax(fault: FaultCode, *rest: Any) -> None:
            if fault not in faults:
                stop(fault, *rest)

        firmware._stop = lax  # type: ignore[method-assign, assignment]

    return flaw


def _content(machine: SoakMachine, firmware: Firmware, done: Fields) -> Fields:
    """DONE says that all went well, whatever happened."""
    assert firmware.job is not None
    return {**done, "digest": firmware.job.digest, "counts": bytes([13] * 4), "cards": 52}


def _scales(machine: SoakMachine, firmware: Firmware, done: Fields) -> Fields:
    """Pockets that weigh what lies in them."""
    slot = machine.world.slot
    pockets = machine.world.boards[slot] if slot is not None else [[], [], [], []]
    return {**done, "counts": bytes(len(pockets[machine.world.printed_seat(p)]) for p in range(4))}


def _total(machine: SoakMachine, firmware: Firmware, done: Fields) -> Fields:
    """A counter over all pockets, not per pocket."""
    slot = machine.world.slot
    return {**done, "cards": sum(map(len, machine.world.boards[slot])) if slot is not None else done["cards"]}


def _swap_routes(machine: SoakMachine, firmware: Firmware) -> None:
    """The memory that holds the routing is damaged: two cards of different hands go into each other's pocket."""
    arm = firmware._arm

    def damaged(fields: Fields) -> None:
        arm(fields)
        assert firmware.job is not None
        routing = firmware.job.routing
        other = next(card for card in range(1, 52) if routing[card] != routing[0])
        routing[0], routing[other] = routing[other], routing[0]

    firmware._arm = damaged  # type: ignore[method-assign, assignment]


def _mixed_pack(machine: SoakMachine, firmware: Firmware) -> None:
    """In every pack one card has been replaced by a second one of another card of the same hand."""
    arm = firmware._arm

    def mixed(fields: Fields) -> None:
        arm(fields)
        assert firmware.job is not None
        hand = [card for card in range(52) if firmware.job.routing[card] == 0]
        hopper = machine.world.hopper
        for place, card in enumerate(hopper):
            if face(card) == hand[0]:
                hopper[place] = machine._foreign_card(card - hand[0] + hand[1])
                break

    firmware._arm = mixed  # type: ignore[method-assign, assignment]


def _report_as_planned(machine: SoakMachine, firmware: Firmware, card: Fields) -> Fields:
    """CARD names the pocket of ARM's routing, not the one that the card really went into."""
    job = firmware.job
    if job is None or card["best"] >= 52:
        return card
    other = next(c for c in range(1, 52) if job.routing[c] != job.routing[0])
    planned = list(job.routing)
    planned[0], planned[other] = planned[other], planned[0]
    return {**card, "wanted": planned[card["best"]], "confirmed": planned[card["best"]]}


def _two_dirty_cards(machine: SoakMachine, firmware: Firmware) -> None:
    """Two cards of different hands are so dirty that each is taken for the other, with little margin."""

    def look(card: int, number: int, noise: Any) -> Reading:
        seen = face(card)
        job = firmware.job
        if job is not None and seen < 52:
            other = next(c for c in range(1, 52) if job.routing[c] != job.routing[0])
            if seen in (0, other):
                taken = other if seen == 0 else 0
                return Reading(CODE[taken], taken, seen, 5)
        return Reading(CODE[seen], seen, (seen + 1) % 52, 192)

    machine.mechanics._look = look  # type: ignore[method-assign]


def _no_interlocks(machine: SoakMachine, firmware: Firmware) -> None:
    """START is accepted whatever board is in and however it lies."""
    check = firmware._check_board

    def lax(board: int) -> Reason:
        found = check(board)
        return Reason.NONE if found in (Reason.WRONG_BOARD, Reason.TURNED) else found

    firmware._check_board = lax  # type: ignore[method-assign]


def _tell_but_go_on(machine: SoakMachine, firmware: Firmware) -> None:
    """A gate fault is reported by a sensor of its own, and dealing goes on."""
    leave = machine.mechanics._exit

    def seen(transit: Transit, cards: list[int], pocket: int) -> None:
        if firmware.job is not None and pocket != transit.wanted:
            fault = {"job_id": firmware.job.id, "fault": FaultCode.GATE, "segment": Segment.GATES, "in_flight": 1}
            firmware._send(Kind.FAULT, {**fault, "recoverable": 0, "action": Action.COLLECT_CARDS})
        leave(transit, cards, pocket)

    machine.mechanics._exit = seen  # type: ignore[method-assign]


def _careless_hands_while_unplugged(machine: SoakMachine, firmware: Firmware) -> None:
    """The machine waits for its host to come back and goes on; meanwhile somebody mixed up two cards in the board."""
    kept: list[tuple[int, Fields]] = []
    waiting = [False]
    send, up, may_feed = firmware._send, firmware.session_up, firmware.may_feed

    def patient(kind: int, fields: Fields) -> bool:
        if waiting[0] and kind in (Kind.CARD, Kind.DONE):
            kept.append((kind, fields))
            return True
        return send(kind, fields)

    def unplugged() -> None:
        waiting[0] = True
        slot = machine.world.slot
        full = [pocket for pocket in machine.world.boards[slot] if pocket] if slot is not None else []
        if len(full) > 1:
            full[0][0], full[1][0] = full[1][0], full[0][0]

    def back() -> None:
        up()
        waiting[0] = False
        while kept:
            send(*kept.pop(0))
        machine.mechanics.poke()

    firmware._send = patient
    firmware.may_feed = lambda: not waiting[0] and may_feed()
    firmware.session_up = back  # type: ignore[method-assign]
    firmware.session_down = lambda: None  # type: ignore[method-assign]
    machine.on_unplug = unplugged


def _other_job(machine: SoakMachine, firmware: Firmware, fields: Fields) -> Fields:
    """The report is that of another attempt."""
    return {**fields, "job_id": fields["job_id"] ^ 0x55}


# --- the controls ------------------------------------------------------------------------------------------------

_DONE_CONTENT = _edit(Kind.DONE, _content)
_NO_GATE_STOP = _overlook(FaultCode.GATE, FaultCode.POCKET_FULL)
_ANOTHER = (_edit(Kind.CARD, _report_as_planned), _edit(Kind.CARD, _other_job), _edit(Kind.DONE, _other_job))
_BLIND = Capability.LABEL | Capability.ORIENTATION

CONTROLS: tuple[Control, ...] = (
    Control("picture", Rates(), (_swap_routes, _DONE_CONTENT), boards=4),
    Control("pack", Rates(), (_mixed_pack, _overlook(FaultCode.DUPLICATE_CARD), _DONE_CONTENT), boards=4),
    Control("counts", Rates(leftover=0.3), (_edit(Kind.DONE, _scales),), boards=12),
    Control("sequence", Rates(leftover=0.3), (_edit(Kind.DONE, _total),), boards=12),
    Control("digest", Rates(), (_swap_routes, _edit(Kind.CARD, _report_as_planned)), boards=4),
    Control("margin", Rates(), (_two_dirty_cards, _overlook(FaultCode.UNREADABLE)), boards=4),
    Control("exit_sensor", Rates(gate_stuck=0.01), (_NO_GATE_STOP, _DONE_CONTENT), boards=12),
    Control("beam", Rates(sticky=0.01), (_overlook(FaultCode.DOUBLE_FEED),), boards=12),
    Control("label", Rates(wrong_board=0.3), (_no_interlocks,), boards=12),
    Control("orientation", Rates(turned=0.3), (_no_interlocks,), boards=12),
    Control("pack_colour", Rates(wrong_pack=0.5), boards=4),
    Control("confirmation", Rates(wrong_board=0.5), without=_BLIND, boards=30),
    Control("present", Rates(pull=0.01), (_overlook(FaultCode.BOARD_PULLED), _DONE_CONTENT), boards=12),
    Control("continuity", Rates(unplug=0.01), (_careless_hands_while_unplugged,), boards=6),
    Control("faults", Rates(gate_stuck=0.01), (_tell_but_go_on,), without=Capability.EXIT, boards=12),
    Control("hands", Rates(jam=0.01, wrong_pocket=0.5), boards=8),
    Control("job", Rates(), (_swap_routes, _DONE_CONTENT, *_ANOTHER), boards=2),
    Control("resume", Rates(host_restart=0.5), boards=12),
)


def control(check: str) -> Control:
    """The control of a check. Raises KeyError for a name that has none."""
    return {item.check: item for item in CONTROLS}[check]


def checks_without_control() -> Collection[str]:
    """Names of checks that no control covers; must be empty."""
    return set(Checks.__dataclass_fields__) - {item.check for item in CONTROLS}


__all__ = ["CONTROLS", "Control", "checks_without_control", "control"]
