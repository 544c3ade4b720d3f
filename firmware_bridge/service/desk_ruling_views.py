"""Rulings as the desk's pages, ``td`` and programs see them; what they say of a board under the veil is left out."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from firmware_bridge.service.desk import Desk
from terminals.interop.adjusted_note import assigned_words
from terminals.result import Artificial, Assigned, BoardState, FixedPercent
from terminals.scoring.lines import PenaltyUnit
from terminals.scoring.rulings import appeal_period, correction_period
from terminals.store.values import PlayKey
from terminals.sync import ruling_log
from terminals.sync.ruling_log import Kept

_UNIT_WORDS = {PenaltyUnit.TOP_FRACTION: "of a top", PenaltyUnit.IMPS: "IMPs", PenaltyUnit.VPS: "VP"}


def minutes_since(desk: Desk) -> Fraction | None:
    """Minutes since the results are available, None before that (Laws 79C, 92B)."""
    if desk.period.published_at is None:
        return None
    return Fraction(max(0, int(desk.clock.wall().timestamp() - desk.period.published_at)), 60)


def content_words(content: BoardState | None) -> str:
    """A result for people; an assigned score with its outcomes and weights."""
    if content is None:
        return ""
    if isinstance(content, Artificial):
        sides = (content.ns, content.ew)
        worth = [f"{float(one.imps):+g}" for one in sides if isinstance(one, FixedPercent) and one.imps is not None]
        return f"{content} ({'/'.join(worth)} IMPs)" if worth else str(content)
    return assigned_words(content) if isinstance(content, Assigned) else str(content)


def ruling_words(kept: Kept) -> str:
    """What a ruling decides, in a few words."""
    ruling, parts = kept.ruling, []
    if kept.play is not None:
        parts.append(f"board {kept.play.board}, {kept.play.ns} against {kept.play.ew}")
    if kept.forms:
        groups = sorted(set(kept.forms.values()))
        parts.append(f"board {kept.board}, {len(kept.forms)} plays of form {', '.join(groups)}")
        if kept.marked is not None:
            parts.append(f"marked {kept.marked.pbn} vulnerable")
    if kept.stands:
        parts.append("the result of the table stands")
    if ruling.result is not None:
        parts.append(content_words(ruling.result))
    if ruling.penalty is not None:
        one = ruling.penalty
        parts.append(f"{one.contestant}: {one.amount} {_UNIT_WORDS.get(one.unit, one.unit.value)}")
    if ruling.award is not None:
        parts.append(f"{ruling.award.contestant}: {ruling.award.vps} VP for round {ruling.award.round}")
    return ": ".join(parts)


def ruling_view(desk: Desk, kept: Kept) -> dict[str, Any]:
    """One ruling, as pages and programs see it. What it says of a veiled board is left out."""
    ruling, play = kept.ruling, kept.play
    hidden = any(desk.veil.hides(one) for one in (play, *kept.forms) if one is not None)
    last = kept.steps[-1] if kept.steps else None
    return {
        "ruling": kept.number,
        "state": kept.state.value,
        "counts": kept.counts,
        "law": ruling.law,
        "reason": "" if hidden else ruling.reason,
        "by": ruling.ruled_by,
        "authority": ruling.authority.value,
        "edition": ruling.ruleset,
        "text": f"board {kept.board if play is None else play.board}" if hidden else ruling_words(kept),
        "play": None
        if play is None
        else {"section": play.section, "board": play.board, "ns": play.ns, "ew": play.ew, "play": play.play},
        "hidden": hidden,
        "replaces": kept.replaces or None,
        "stands": kept.stands,
        "forms": [
            {"section": one.section, "board": one.board, "ns": one.ns, "ew": one.ew, "play": one.play, "form": form}
            for one, form in ({} if hidden else kept.forms).items()
        ],
        "action": "" if last is None else last.action,
        "steps": [
            {
                "state": step.state.value,
                "by": step.by,
                "second": step.second,
                "reason": "" if hidden else step.reason,
                "wall": step.wall,
                "action": step.action,
                "appeal": dict(step.appeal),
            }
            for step in kept.steps
        ],
    }


def logged(desk: Desk, item: dict[str, Any]) -> dict[str, Any]:
    """An entry of the desk's log; a ruling about a veiled board says no more than that there is one."""
    if item["kind"] not in ruling_log.KINDS:
        return item
    data = item["data"]
    own = data.get("number", item["number"]) if item["kind"] == ruling_log.RULING else 0
    number = int(data.get("ruling", own))
    plays = [one[:2] for one in data.get("forms", ())]
    plays += [data["play"][:2]] if "play" in data else []
    kept = desk.facts.decided.kept.get(number)
    if kept is not None:
        plays += [[one.section, one.board] for one in (kept.play, *kept.forms) if one is not None]
    if not any((str(section), int(board)) in desk.veil.boards for section, board in plays):
        return item
    return {**item, "data": {key: data[key] for key in ("state", "action") if key in data}}


def rulings_view(desk: Desk) -> dict[str, Any]:
    """All rulings, newest first; where the two periods stand; why the results are provisional."""
    kept, minutes = desk.facts.decided.kept, minutes_since(desk)
    profile = replace(desk.profile, correction_minutes=desk.setup.settings.correction_minutes)
    reasons = [f"ruling {one.number} is under appeal" for one in ruling_log.pending(kept)]
    if desk.period.published_at is not None and not desk.period.final:
        reasons.append("the correction period is open")
    return {
        "rulings": [ruling_view(desk, one) for _, one in sorted(kept.items(), reverse=True)],
        "penalties": list(desk.facts.penalties.values()),
        "correction": "over" if desk.period.final else correction_period(minutes, profile).value,
        "appeals": appeal_period(minutes, profile).value,
        "provisional": reasons,
        "second": desk.period.final,
    }


def penalties_view(desk: Desk) -> list[dict[str, Any]]:
    """Penalties and bonuses that count, by number; those of events of an earlier version have no ruling."""
    out = list(desk.facts.penalties.values())
    for number, kept in desk.facts.decided.kept.items():
        one = kept.ruling.penalty
        if one is not None and kept.counts:
            values = {"number": number, "section": one.contestant.section, "pair": one.contestant.number}
            values |= {"amount": str(one.amount), "unit": one.unit.value, "law": kept.ruling.law}
            out.append({**values, "reason": kept.ruling.reason, "actor": kept.ruling.ruled_by})
    return out


def on_play_view(desk: Desk, play: PlayKey) -> list[dict[str, Any]]:
    """The rulings on a play that stand or are proposed, in short, for travellers and scorecards."""
    return [
        {"ruling": one.number, "law": one.ruling.law, "state": one.state.value, "form": one.forms.get(play, "")}
        for one in ruling_log.on_play(desk.facts.decided.kept, play)
    ]
