"""What of Flower looks at the host's clock, or needs a server, has FedSim's in its place while a program runs."""
from __future__ import annotations

import contextlib
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from flwr.app import Message
from flwr.app.message_type import MessageType
from flwr.compat.common import recorddict_compat as compat
from flwr.server import server as legacy
from flwr.server.compat.grid_client_proxy import GridClientProxy
from flwr.serverapp import server_app
from flwr.serverapp.strategy import Strategy, strategy_utils

from ._flower_grid import VirtualGrid


@contextlib.contextmanager
def virtual(grid: VirtualGrid, keep: Callable[[Any], None]) -> Iterator[None]:
    """The calling thread sleeps in virtual time, and legacy servers use the grid; `keep` receives Flower's results."""
    own = threading.get_ident()
    real = time.sleep

    def sleep(seconds: float) -> None:
        grid.sleep(seconds) if threading.get_ident() == own else real(seconds)

    def start_grid(*, server: Any = None, config: Any = None, strategy: Any = None, client_manager: Any = None,
                   **_: Any) -> Any:
        server, config = legacy.init_defaults(
            server=server, config=config, strategy=strategy, client_manager=client_manager)
        _follow(server.client_manager(), grid)
        history = legacy.run_fl(server=server, config=config)
        keep(history)
        return history

    begun = Strategy.start

    @functools.wraps(begun)
    def start(self: Strategy, *arguments: Any, **named: Any) -> Any:
        result = begun(self, *arguments, **named)
        keep(result)
        return result

    places: list[tuple[Any, str, Any]] = [
        (time, "sleep", sleep), (strategy_utils, "sleep", grid.await_nodes), (Strategy, "start", start),
        (server_app, "start_grid", start_grid),
        (legacy, "fit_clients", _batch(grid, MessageType.TRAIN)),
        (legacy, "evaluate_clients", _batch(grid, MessageType.EVALUATE)),
    ]
    for name, module in list(sys.modules.items()):
        # A user's module that has imported `sleep` by its name.
        if name.partition(".")[0] not in ("flwr", "time", "pyfedsim") and getattr(module, "sleep", None) is real:
            places.append((module, "sleep", sleep))
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    for owner, name, value in places:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _follow(manager: Any, grid: VirtualGrid) -> None:
    """Has a client manager know the nodes that are online, whenever it is asked."""
    known: dict[int, GridClientProxy] = {}

    def look() -> None:
        online = list(grid.get_node_ids())
        for node in [node for node in known if node not in online]:
            manager.unregister(known.pop(node))
        for node in online:
            if node not in known:
                proxy = GridClientProxy(node_id=node, grid=grid, run_id=grid.run.run_id)
                if not manager.register(proxy):
                    raise RuntimeError("Could not register node.")
                known[node] = proxy

    def looking(method: Any) -> Any:
        @functools.wraps(method)
        def call(*arguments: Any, **named: Any) -> Any:
            look()
            return method(*arguments, **named)

        return call

    available = manager.num_available

    def wait_for(num_clients: int, timeout: int = 86400) -> bool:
        until = grid.now + round(timeout * 1e6)
        look()
        while available() < num_clients and grid.now < until:
            grid.await_nodes(1, until)
            look()
        return bool(available() >= num_clients)

    for name in ("num_available", "all", "sample"):
        setattr(manager, name, looking(getattr(manager, name)))
    manager.wait_for = wait_for


def _batch(grid: VirtualGrid, message_type: str) -> Any:
    """Sends a legacy round's messages at once and not from a pool of threads, whose order the host decides."""
    is_fit = message_type == MessageType.TRAIN

    def clients(client_instructions: Any, max_workers: Any, timeout: float | None, group_id: int) -> Any:
        results: list[Any] = []
        failures: list[Any] = []
        proxies: dict[int, Any] = {}
        messages: list[Message] = []
        for proxy, instruction in client_instructions:
            content = (
                compat.fitins_to_recorddict(instruction, keep_input=True) if is_fit
                else compat.evaluateins_to_recorddict(instruction, keep_input=True))
            messages.append(Message(
                content=content, message_type=message_type, dst_node_id=proxy.node_id, group_id=str(group_id),
                ttl=timeout))
            proxies[proxy.node_id] = proxy
        for reply in grid.send_and_receive(messages):
            if reply.has_error():
                failures.append(ValueError(f"Message contains an Error (reason: {reply.error.reason})."))
                continue
            result = (
                compat.recorddict_to_fitres(reply.content, keep_input=False) if is_fit
                else compat.recorddict_to_evaluateres(reply.content))
            pair = (proxies[reply.metadata.src_node_id], result)
            (results if result.status.code == legacy.Code.OK else failures).append(pair)
        return results, failures

    return clients
