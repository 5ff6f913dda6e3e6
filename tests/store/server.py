"""An S3-compatible server in a process of its own.

It takes one request at a time, so a conditional put is as atomic as on a real server.
"""

import sys

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    server = make_server(
        "127.0.0.1", port, DomainDispatcherApplication(create_backend_app), threaded=False
    )
    print(server.server_port, flush=True)  # noqa: T201 - whoever started it reads the port
    server.serve_forever()
