"""An event that is over, looked at as the running one is: to export it again after something of it came late."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from firmware_bridge.errors import EntryError
from firmware_bridge.service import desk_files
from firmware_bridge.service.api_access import Caller
from firmware_bridge.service.api_operation import ROOT, Operation
from firmware_bridge.service.desk import Desk
from terminals.store.desk import first_wall
from terminals.sync.setup import EventSetup


class EarlierDesk(Desk):
    """The stored state of one event, as it is now. It is only read: nobody plays in it and nothing follows it."""

    def __init__(self, running: Desk, setup: EventSetup) -> None:
        super().__init__(running.directory, running.store, running.access, running.hub, running.clock)
        self._earlier = setup
        self.read_event()

    @property
    def setup(self) -> EventSetup:
        return self._earlier

    def wall(self) -> str:
        """When the event began: files carry its day, not that of the export."""
        event = self.event
        return self.store.read(lambda connection: first_wall(connection, event)) or super().wall()


def earlier(desk: Desk, event: str) -> Desk:
    """The event with this id, 16 hexadecimal digits; the running one is ``desk`` itself. Raises EntryError."""
    try:
        number = int(event, 16) if len(event) == 16 else -1
    except ValueError:
        number = -1
    setup = desk.store.load_setup(number) if 0 <= number < 1 << 63 else None
    if setup is None or not setup.sections:
        raise EntryError("there is no such event.", next_step="See: firmware-bridge td events", code="no-such-event")
    return desk if setup.id == desk.setup.id else EarlierDesk(desk, setup)


async def file(request: Request, desk: Desk, caller: Caller) -> Response:
    """A printed sheet or result file of an earlier event, by its kind."""
    name = request.path_params["name"]
    found = await run_in_threadpool(earlier, desk, request.path_params["event"])
    filename, media, data = await run_in_threadpool(desk_files.file_of, found, name)
    if found is desk and name != desk_files.HANDS:
        await desk.log("exported", what=name)
    return Response(data, media_type=media, headers={"content-disposition": f'attachment; filename="{filename}"'})


def operations() -> list[Operation]:
    """What may be done with an event that is over."""
    return [
        Operation(
            "GET",
            f"{ROOT}/setup/events/{{event}}/files/{{name}}",
            "director",
            "A sheet or result file of an earlier event, as it is now.",
            file,
            None,
            "",
            "*/*",
        )
    ]
