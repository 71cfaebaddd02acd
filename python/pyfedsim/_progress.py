"""A bar for a run or a sweep, in terminals and notebooks."""
from __future__ import annotations

import sys
from typing import Any, Literal

Shown = bool | Literal["auto"]


class Bar:
    """A bar of tqdm, or nothing."""

    def __init__(self, shown: Shown, label: str) -> None:
        """"auto": a bar on a terminal and in a notebook, if tqdm is installed. True: a bar. False: none.

        Errors: `ImportError` for True without tqdm; `ValueError` for anything else.
        """
        if shown not in (True, False, "auto"):
            raise ValueError(f"progress: found {shown!r}, expected True, False or 'auto'")
        self._bar: Any = None
        if shown is True or shown and (_is_notebook() or sys.stderr.isatty()):
            try:
                self._bar = _tqdm()(
                    total=1.0, desc=label, bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}", leave=True,
                )
            except ImportError:
                if shown is True:
                    raise ImportError("progress=True needs tqdm: pip install tqdm") from None

    def show(self, share: float, text: str) -> None:
        """Shows a share from 0 to 1, with a text behind it."""
        if self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(max(0.0, min(1.0, share) - self._bar.n))

    def close(self) -> None:
        """Leaves the bar as it is."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _is_notebook() -> bool:
    return "ipykernel" in sys.modules


def _tqdm() -> Any:
    if _is_notebook():
        try:
            import ipywidgets  # noqa: F401
        except ImportError:  # Without it tqdm.auto warns and falls back to this.
            from tqdm.std import tqdm

            return tqdm
    from tqdm.auto import tqdm as automatic

    return automatic
