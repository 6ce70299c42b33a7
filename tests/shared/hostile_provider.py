"""An OpenID provider whose answers a test can spoil one by one; it keeps the rules of OpenID Connect otherwise."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx2
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

ISSUER = "https://login.example.org"
CLIENT_ID = "discreet-test"
CLIENT_SECRET = "client-secret-of-the-test"
_KEY = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)  # making one takes a moment, so all tests share it


@dataclass
class Code:
    """A code that was issued, with the request that it answers."""

    request: dict[str, str]
    claims: dict[str, Any]


@dataclass
class HostileProvider:
    """A provider behind an httpx2 transport."""

    key: RSAKey = field(default_factory=lambda: _KEY)
    codes: dict[str, Code] = field(default_factory=dict)
    requests: list[httpx2.Request] = field(default_factory=list)
    spoil_claims: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
    spoil_token: Callable[[str], str] = lambda token: token
    sign: Callable[[dict[str, Any]], str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    user_info: dict[str, Any] | None = None
    down: bool = False

    def log_in(self, location: str, subject: str, **claims: Any) -> dict[str, str]:
        """What the provider's page does when somebody logs in: the parameters with which the browser is sent back."""
        parts = urlsplit(location)
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{ISSUER}/authorize"
        request = dict(parse_qsl(parts.query))
        assert request["response_type"] == "code"
        assert request["client_id"] == CLIENT_ID
        assert request["code_challenge_method"] == "S256"
        assert "openid" in request["scope"].split()
        code = secrets.token_urlsafe(12)
        self.codes[code] = Code(request, {"sub": subject, **claims})
        return {"code": code, "state": request["state"]}

    def transport(self) -> httpx2.MockTransport:
        """The provider as a transport."""
        return httpx2.MockTransport(self._answer)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if self.down:
            raise httpx2.ConnectError("refused")
        path = request.url.path
        if path == "/.well-known/openid-configuration":
            return httpx2.Response(200, json={**_METADATA, **self.metadata})
        if path == "/jwks":
            return httpx2.Response(200, json=KeySet([self.key]).as_dict(private=False))
        if path == "/userinfo":
            return httpx2.Response(200, json=self.user_info or {})
        assert path == "/token", path
        return self._redeem(request)

    def _redeem(self, request: httpx2.Request) -> httpx2.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        scheme, _, basic = request.headers.get("authorization", "").partition(" ")
        issued = self.codes.pop(form["code"], None)  # a code works once
        if scheme != "Basic" or base64.b64decode(basic).decode() != f"{CLIENT_ID}:{CLIENT_SECRET}":
            return httpx2.Response(401, json={"error": "invalid_client"})
        if issued is None or issued.request["redirect_uri"] != form["redirect_uri"]:
            return httpx2.Response(400, json={"error": "invalid_grant"})
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
        if challenge != issued.request["code_challenge"]:
            return httpx2.Response(400, json={"error": "invalid_grant"})
        current = int(time.time())
        claims = {
            "iss": ISSUER, "aud": CLIENT_ID, "iat": current, "exp": current + 300, "nonce": issued.request["nonce"],
            **issued.claims,
        }  # fmt: skip
        claims = self.spoil_claims(claims)
        token = self.sign(claims) if self.sign else jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)
        answer = {"access_token": "access", "token_type": "Bearer", "expires_in": 300, "id_token": self.spoil_token(token)}
        return httpx2.Response(200, json=answer)


_METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/jwks",
    "end_session_endpoint": f"{ISSUER}/logout",
    "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
}


def sign_with_nothing(claims: dict[str, Any]) -> str:
    """An identity token that says it needs no signature."""
    parts = [json.dumps({"alg": "none"}), json.dumps(claims)]
    return ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts) + "."


def sign_with_client_secret(claims: dict[str, Any]) -> str:
    """An identity token signed with what every operator of the client knows."""
    return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(CLIENT_SECRET), algorithms=["HS256"])


def sign_with_public_key(claims: dict[str, Any]) -> str:
    """The classic confusion: HMAC with the text of the provider's public key, which everybody knows."""
    return jwt.encode(
        {"alg": "HS256", "kid": _KEY.kid}, claims, OctKey.import_key(_KEY.as_pem(private=False)), algorithms=["HS256"]
    )


def sign_with_another_key(claims: dict[str, Any]) -> str:
    """A right form by the wrong key, under the provider's key id."""
    return jwt.encode({"alg": "RS256", "kid": _KEY.kid}, claims, RSAKey.generate_key(2048))
