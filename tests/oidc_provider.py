"""A provider of OpenID Connect for tests: it signs tokens, and checks the client, the code and PKCE."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT_ID = "explorer"
CLIENT_SECRET = "of-the-explorer"


class OidcProvider:
    """Signs in `user` for every request. `changes` replace claims of the tokens, `key` signs them."""

    def __init__(self) -> None:
        self.user = "anna"
        self.changes: dict[str, Any] = {}
        self.published = self.key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})
        self.requests: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.get(self)

            def do_POST(self) -> None:
                provider.post(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def get(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer the discovery, the keys, and the page on which a user would agree."""
        parts = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path:
            case "/.well-known/openid-configuration":
                endpoints = {
                    "authorization_endpoint": "authorize",
                    "token_endpoint": "token",
                    "jwks_uri": "keys",
                }
                self._send(
                    handler,
                    {
                        "issuer": self.url,
                        **{name: f"{self.url}/{path}" for name, path in endpoints.items()},
                        "response_types_supported": ["code"],
                        "id_token_signing_alg_values_supported": ["RS256"],
                        "code_challenge_methods_supported": ["S256"],
                    },
                )
            case "/keys":
                self._send(handler, {"keys": [self.published.as_dict(private=False)]})
            case "/authorize":
                assert query["response_type"] == "code"
                assert query["client_id"] == CLIENT_ID
                assert query["code_challenge_method"] == "S256"
                code = secrets.token_urlsafe()
                self.requests[code] = query
                handler.send_response(302)
                answer = urlencode({"code": code, "state": query["state"]})
                handler.send_header("Location", f"{query['redirect_uri']}?{answer}")
                handler.end_headers()
            case _:
                handler.send_error(404)

    def post(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer with the tokens for a code."""
        length = int(handler.headers["Content-Length"])
        form = {name: values[0] for name, values in parse_qs(handler.rfile.read(length).decode()).items()}
        asked = self.requests.pop(form.get("code", ""), None)
        _, _, basic = handler.headers.get("Authorization", "").partition(" ")
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        if (
            asked is None
            or base64.b64decode(basic).decode() != f"{CLIENT_ID}:{CLIENT_SECRET}"
            or form["redirect_uri"] != asked["redirect_uri"]
            or base64.urlsafe_b64encode(digest).decode().rstrip("=") != asked["code_challenge"]
        ):
            self._send(handler, {"error": "invalid_grant"}, 400)
            return
        now = int(time.time())
        claims = {
            "iss": self.url,
            "sub": f"id of {self.user}",
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            "email": self.user,
            "email_verified": True,
            **self.changes,
        }
        signed = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key)
        self._send(handler, {"access_token": "access", "token_type": "Bearer", "id_token": signed})

    def _send(self, handler: BaseHTTPRequestHandler, document: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
