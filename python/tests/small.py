"""A scenario as a dictionary: made-up data, four phones, half a day; some milliseconds."""
import copy
from typing import Any

SMALL: dict[str, Any] = {
    "name": "small",
    "stop": {"after": "12 h"},
    "task": {
        "data": {
            "source": {"blobs": {"classes": 3, "features": 4, "train": 80, "test": 30}},
            "partition": {"iid": {"clients": 4}},
        },
        "model": "softmax",
    },
    "fleet": [{"name": "phones", "count": 4, "background": {"processing": {"earliestBegin": "1 h"}}}],
    "server": {"trigger": {"threshold": 2}},
}


def small(**changed: Any) -> dict[str, Any]:
    """The scenario with other sections."""
    return copy.deepcopy(SMALL) | changed
