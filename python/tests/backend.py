"""The automatic backend by its document's rules: three endpoints, and an aggregation of three updates."""
import threading

import flask
import numpy as np
from werkzeug.serving import make_server

THRESHOLD = 3


class Backend:
    """The model, the updates that wait, and how often each endpoint was asked."""

    def __init__(self, token=None, first=0):
        self.token = token
        self.version, self.weights = first, None
        self.pending, self.asked = [], {}

    def aggregate(self):
        """Federated averaging: the mean of the weights, each by its number of samples."""
        samples = [update["num_samples"] for update in self.pending]
        self.weights = {
            name: np.average([update["weight_updates"][name] for update in self.pending], axis=0, weights=samples)
            for name in self.pending[0]["weight_updates"]
        }
        self.version += 1
        self.pending = []

    def app(self):
        app = flask.Flask(__name__)

        @app.before_request
        def judge():
            self.asked[flask.request.path] = self.asked.get(flask.request.path, 0) + 1
            if sum(self.asked.values()) > 5000:
                flask.abort(429)
            if self.token and flask.request.headers.get("Authorization") != f"Bearer {self.token}":
                flask.abort(401)

        @app.post("/api/model/update")
        def update():
            self.pending.append(flask.request.get_json())
            done = len(self.pending) >= THRESHOLD
            if done:
                self.aggregate()
            status = "aggregated" if done else "pending"
            return {"status": status, "new_version": self.version, "pending_count": len(self.pending)}

        @app.get("/api/model/latest")
        def latest():
            if self.weights is None:
                return {"model_available": False, "status": "offline"}
            weights = {name: values.tolist() for name, values in self.weights.items()}
            return {"model_available": True, "version": self.version, "weights": weights}

        @app.get("/api/model/check")
        def check():
            held = flask.request.args.get("version", 0, int)
            return {
                "has_update": self.version > held, "latest_version": self.version, "online": True,
                "client_version": held,
            }

        return app


class Serving:
    """A server of an app on a free port of this machine alone, while the block lasts."""

    def __init__(self, app):
        self.server = make_server("127.0.0.1", 0, app, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.port}"

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
