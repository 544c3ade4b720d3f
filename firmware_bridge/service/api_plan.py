"""Routes of an event's beginning and of what happens to its plan: sections, movements, draws, changes, undoing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_again, desk_draw, desk_plan, desk_sections, desk_setup
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from firmware_bridge.service.desk_scoring import remember
from firmware_bridge.service.desk_values import whole_of
from terminals.movement.catalog import KINDS
from terminals.sync.setup import movement_to_dict

Body = Mapping[str, Any]


async def kinds(request: Request, desk: Desk, caller: Caller) -> Response:
    """Every movement that can be named."""
    return JSONResponse(
        [
            {"kind": name, "counts": kind.counts, "options": sorted(kind.options), "words": kind.words}
            for name, kind in KINDS.items()
        ]
    )


async def propose(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await run_in_threadpool(desk_sections.proposals, body))


async def check(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    """What an event of these sections would be; nothing is begun."""
    return JSONResponse(await desk_setup.check(desk, body))


async def start(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    begun = await desk_setup.start(desk, body)
    await remember(desk)
    return JSONResponse(begun)


async def previous(request: Request, desk: Desk, caller: Caller) -> Response:
    old = desk_again.previous(desk)
    sections = [] if old is None else [s for s in old.sections if s.movement is not None]
    return JSONResponse(
        None
        if old is None
        else {
            "name": old.name,
            "movements": [s.movement.name for s in sections if s.movement is not None],
            "pairs": sum(len(s.movement.pairs) for s in sections if s.movement is not None),
        }
    )


async def events(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(desk_again.earlier_events(desk))


async def movement_preview(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_setup.set_movement(desk, body, only_preview=True))


async def movement(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_setup.set_movement(desk, body, only_preview=False))


async def people(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_setup.set_people(desk, body))


async def plan(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(
        {"sections": desk_plan.plan_view(desk), "copies": desk_setup.copies_to_deal(desk.setup)}
        | {"across": desk.setup.settings.across, "warnings": desk_setup.warnings(desk.setup)}
    )


async def plan_movement(request: Request, desk: Desk, caller: Caller) -> Response:
    """A section's rounds as they are now, in the form of a movement's file."""
    letter = desk_plan.letter_of({"section": request.query_params.get("section", "A")})
    return JSONResponse(movement_to_dict(desk_plan.kept_of(desk, letter).plan.shown()))


async def plan_preview(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_plan.happen(desk, body, only_preview=True))


async def plan_change(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_plan.happen(desk, body, only_preview=False))


async def undo_preview(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_plan.happen(desk, _undoing(body), only_preview=True))


async def undo(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_plan.happen(desk, _undoing(body), only_preview=False))


def _undoing(body: Body) -> Body:
    return {**body, "event": {"kind": "undone", "event": whole_of(body, "position", 0, 99_999)}}


async def draw_preview(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_draw.draw(desk, body, only_preview=True))


async def draw(request: Request, desk: Desk, caller: Caller, body: Body) -> Response:
    return JSONResponse(await desk_draw.draw(desk, body, only_preview=False))


async def checklist(request: Request, desk: Desk, caller: Caller) -> Response:
    return JSONResponse(desk_setup.checklist(desk))


async def cards(request: Request, desk: Desk, caller: Caller) -> Response:
    """Guide cards of all pairs of a section, or cards of its tables, as the plan is now."""
    from terminals.movement.cards import guide_cards, table_cards

    which = request.path_params["which"]
    if which not in ("guide", "tables"):
        raise EntryError("there are guide cards and cards of the tables.", code="no-such-file")
    letter = desk_plan.letter_of({"section": request.query_params.get("section", "A")})
    paper = request.query_params.get("paper", "a4")
    if paper not in ("a4", "letter"):
        raise EntryError("paper is a4 or letter.", code="bad-value")
    shown = desk_plan.kept_of(desk, letter).plan.shown()
    title = f"{desk.setup.name}, section {letter}" if len(desk.setup.sections) > 1 else desk.setup.name
    make = guide_cards if which == "guide" else table_cards
    data = await run_in_threadpool(make, shown, page=paper, title=title)
    name = f"{which}-{letter}.pdf"
    return Response(
        data, media_type="application/pdf", headers={"content-disposition": f'attachment; filename="{name}"'}
    )


def operations() -> list[Operation]:
    """What begins an event and changes its plan."""
    get, post = "GET", "POST"
    question = {"pairs": "number", "minutes": "from first board to end", "minutes_per_board?": "7 if left out"}
    question |= {"boards?": "at hand, 0 for any", "copies?": "at most", "winners?": "1, 2, or 0 for either"}
    question |= {"sections?": "into how many they are divided"}
    fields = ", ".join(f"{name}: {words}" for name, words in desk_sections.SECTION_FIELDS.items())
    sections = {"sections?": f"list of {{{fields}}}; or how many play spec", "spec?": "of a movement"}
    sections |= {"boards?": "with spec: 17-32 or 1-8,21-28"}
    sections |= {"again?": "true: same as last time; or the id of an event"}
    begin = {"name?": "of the event", **sections}
    begin |= {"settings?": "names with values", "instead?": "although an event is under way"}
    begin |= {"method?": "matchpoints, cross_imps, butler, aggregate, imps, board_a_match"}
    begin |= {"scale?": "of victory points", "knockout?": "true or false"}
    one = {
        "section?": "letter",
        **{name: words for name, words in desk_sections.SECTION_FIELDS.items() if name != "name?"},
    }
    looked = {"seen?": "version of the preview that was looked at"}
    one |= {"anyway?": "although results would be outside of the plan", "actor?": "who decides", **looked}
    change = {"section": "letter", "event": "kind and values", "actor?": "who decides"}
    change |= {"anyway?": "although results would be outside of the plan", **looked}
    back = {
        "section": "letter",
        "position": "of the event",
        "actor?": "who decides",
        "anyway?": change["anyway?"],
        **looked,
    }
    swiss = {"section?": "letter", "absent?": "list of numbers", "join?": "list of new numbers"}
    swiss |= {"ranking?": "list, in place of the ranking", "first_board?": "number", "anyway?": "results are missing"}
    swiss |= {"actor?": "who decides", "couples?": "as in the preview that was looked at", **looked}
    names = {"section?": "letter", "people": "list of {pair or team, name?, players: [{name, number}]}"}
    paper = {"section": "letter", "paper": "a4 or letter"}
    setup, plans = f"{ROOT}/setup", f"{ROOT}/plan"
    return [
        Operation(get, f"{setup}/kinds", "viewer", "Movements that can be named.", kinds),
        Operation(post, f"{setup}/propose", "viewer", "Three movements.", propose, question),
        Operation(post, f"{setup}/check", "assistant", "What these sections would play.", check, sections),
        Operation(get, f"{setup}/previous", "viewer", "The last event, to begin another like it.", previous),
        Operation(get, f"{setup}/events", "viewer", "Earlier events, newest first.", events),
        Operation(post, f"{setup}/start", "director", "Begin an event.", start, begin),
        Operation(post, f"{setup}/movement/preview", "assistant", "A section's movement.", movement_preview, one),
        Operation(post, f"{setup}/movement", "director", "Give a section its movement.", movement, one),
        Operation(post, f"{setup}/people", "assistant", "Names of pairs and teams.", people, names),
        Operation(get, plans, "viewer", "Every section's plan and what happened to it.", plan),
        Operation(
            get,
            f"{plans}/movement",
            "viewer",
            "A section's rounds as they are now.",
            plan_movement,
            query={"section": "letter"},
        ),
        Operation(post, f"{plans}/preview", "assistant", "What a change of plan would do.", plan_preview, change),
        Operation(post, f"{plans}/change", "director", "Late pair, early end, wrong move ...", plan_change, change),
        Operation(post, f"{plans}/undo/preview", "assistant", "What taking it back would do.", undo_preview, back),
        Operation(post, f"{plans}/undo", "director", "Take a change of plan back.", undo, back),
        Operation(post, f"{plans}/draw/preview", "assistant", "What the draw would be.", draw_preview, swiss),
        Operation(post, f"{plans}/draw", "director", "Draw a Swiss event's next round.", draw, swiss),
        Operation(
            get,
            f"{plans}/cards/{{which}}",
            "viewer",
            "Guide cards, or cards of the tables, to print.",
            cards,
            None,
            "",
            "application/pdf",
            paper,
        ),
        Operation(get, f"{ROOT}/checklist", "viewer", "What is left before going home.", checklist),
    ]
