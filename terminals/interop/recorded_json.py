"""What a table recorded beside a result, as JSON: everything as it was recorded, withdrawn and cancelled calls too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dealer.cards import Seat, card_name
from firmware_bridge.errors import EntryError
from terminals.auction import Auction, Call, CallEvent, Standing
from terminals.interop.tokens import read_card
from terminals.play import PlayedCard
from terminals.table_record import Recorded, RecordedPlay

MAX_CARDS = 52


def recorded_as_dict(told: Recorded) -> dict[str, Any]:
    """``auction``: dealer and calls; ``cards``: who led, tricks that were agreed, and the cards in their order. Only
    what was recorded has its key."""
    out: dict[str, Any] = {}
    if told.auction is not None:
        out["auction"] = {
            "dealer": told.auction.dealer.letter,
            "calls": [
                {
                    "seat": event.seat.letter,
                    "call": event.call.text,
                    "standing": event.standing.value,
                    "alerted": event.alerted,
                    **({"law": event.law} if event.law else {}),
                }
                for event in told.auction.events
            ],
        }
    if told.play is not None:
        cards = told.play.cards
        out["cards"] = {
            "leader": cards[0].seat.letter if cards else None,
            "agreed": told.play.agreed,
            "played": [[one.seat.letter, card_name(one.card)] for one in cards],
        }
    return out


def recorded_from_dict(data: Mapping[str, Any]) -> Recorded | None:
    """Inverse of ``recorded_as_dict``; None without any of its keys. Raises EntryError, which names no card."""
    auction, cards = data.get("auction"), data.get("cards")
    if auction is None and cards is None:
        return None
    try:
        return Recorded(
            None if auction is None else _auction(auction),
            None if cards is None else _play(cards),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise EntryError("An auction or a play is not complete.", code="bad-result") from None


def _auction(data: Mapping[str, Any]) -> Auction:
    return Auction(Seat.from_letter(data["dealer"]), tuple(_call(one) for one in data["calls"]))


def _call(data: Mapping[str, Any]) -> CallEvent:
    alerted, law = data["alerted"], data.get("law", "")
    if not isinstance(alerted, bool) or not isinstance(law, str):
        raise TypeError("call")
    return CallEvent(Seat.from_letter(data["seat"]), Call.parse(data["call"]), Standing(data["standing"]), alerted, law)


def _play(data: Mapping[str, Any]) -> RecordedPlay:
    agreed = data["agreed"]
    if agreed is not None and (isinstance(agreed, bool) or not isinstance(agreed, int) or not 0 <= agreed <= 13):
        raise TypeError("agreed")
    cards = tuple(_card(*one) for one in data["played"])
    if len(cards) > MAX_CARDS or len({one.card for one in cards}) != len(cards):
        raise ValueError("played")
    leader = cards[0].seat.letter if cards else None
    if data.get("leader", leader) != leader:
        raise ValueError("leader")
    return RecordedPlay(agreed, cards)


def _card(seat: str, name: str) -> PlayedCard:
    card = read_card(name)
    if card is None:
        raise ValueError("card")
    return PlayedCard(Seat.from_letter(seat), card)
