"""The OpenID Connect provider: discovery, authorization requests, redemption of codes, and verified identity tokens.

OpenID Connect Core 1.0 (authorization code flow), Discovery 1.0, RP-Initiated Logout 1.0; PKCE (RFC 7636), issuer of an answer
(RFC 9207). Authlib makes the requests and checks the claims, joserfc the signatures. What is stricter here than there: only
asymmetric signatures, and an audience that is always checked.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.common.urls import add_params_to_uri
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from discreet.errors import SourceError
from discreet.web.auth.sso.attempt import Attempt
from discreet.web.auth.sso.claims import Claims
from discreet.web.auth.sso.settings import OidcSettings, check_endpoint
from discreet.web.errors import LoginRefused, ProviderUnavailable

log = logging.getLogger("discreet.web.sso")
SIGNATURES = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Accepted signatures: by the provider's private key. One by the client's secret (HS256) or none at all is refused."""
CLOCK_SKEW_SECONDS = 120
TIMEOUT_SECONDS = 10.0
METADATA_SECONDS = 3600.0
KEYS_SECONDS = 30.0
"""How long discovery is cached, and how often an unknown key may make the server fetch the provider's keys again."""
FAILURE_SECONDS = 3.0
"""How long a provider that does not respond is left alone, so that those who wait for it do not wait one after the other."""
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass
class _Cache:
    metadata: dict[str, Any] = field(default_factory=dict)
    metadata_at: float = float("-inf")
    failed_at: float = float("-inf")
    keys: KeySet | None = None
    keys_at: float = float("-inf")


class Provider:
    """A provider with the registration of this server there; safe to use from several threads."""

    def __init__(self, settings: OidcSettings, redirect_uri: str, transport: httpx2.BaseTransport | None = None) -> None:
        self.settings = settings
        self.redirect_uri = redirect_uri
        self._transport = transport
        self._cache = _Cache()
        self._lock = threading.Lock()

    def authorization_url(self, attempt: Attempt) -> str:
        """Where to send the browser so that its user logs in at the provider."""
        metadata = self.load_metadata()
        with self._client() as client:
            url, _ = client.create_authorization_url(
                metadata["authorization_endpoint"],
                state=attempt.state,
                code_verifier=attempt.code_verifier,
                nonce=attempt.nonce,
            )
        return str(url)

    def redeem(self, attempt: Attempt, code: str) -> Claims:
        """Exchange the code of an answer for the verified claims about its user; raises if anything is wrong with them."""
        metadata = self.load_metadata()
        with _report_failures(self.settings.label), self._client() as client:
            token = client.fetch_token(
                metadata["token_endpoint"],
                grant_type="authorization_code",
                code=code,
                code_verifier=attempt.code_verifier,
                redirect_uri=self.redirect_uri,
            )
            values = self._verify(token, attempt)
            if self._lacks_groups(values) and "userinfo_endpoint" in metadata:
                values = {**self._fetch_user_info(client, metadata, values["sub"]), **values}
        return Claims(self.settings.issuer, values["sub"], values, str(token["id_token"]))

    def logout_url(self, return_to: str, id_token: str | None) -> str | None:
        """Where to send the browser to end the session at the provider too; None if the provider has no such page."""
        try:
            endpoint = self.load_metadata().get("end_session_endpoint")
        except ProviderUnavailable:
            return None  # the session here has ended; the provider's own ends with its lifetime
        if not isinstance(endpoint, str):
            return None
        parameters = {"client_id": self.settings.client_id, "post_logout_redirect_uri": return_to}
        return str(add_params_to_uri(endpoint, parameters | ({"id_token_hint": id_token} if id_token else {})))

    def load_metadata(self) -> dict[str, Any]:
        """The provider's discovery document, fetched at most once an hour."""
        with self._lock:
            if time.monotonic() - self._cache.metadata_at < METADATA_SECONDS:
                return self._cache.metadata
            if time.monotonic() - self._cache.failed_at < FAILURE_SECONDS:
                raise ProviderUnavailable(f"{self.settings.label} does not respond; try again in a minute")
            address = f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration"
            try:
                metadata = self._fetch_json(address)
            except ProviderUnavailable:
                self._cache.failed_at = time.monotonic()
                raise
            if metadata.get("issuer") != self.settings.issuer:
                raise ProviderUnavailable(
                    f"the provider calls itself '{str(metadata.get('issuer'))[:200]}', but --oidc-issuer is "
                    f"'{self.settings.issuer}'; the two must be equal to the letter"
                )
            try:
                for name in _ENDPOINTS:
                    check_endpoint(str(metadata.get(name, "")), name)
                if "end_session_endpoint" in metadata:
                    check_endpoint(str(metadata["end_session_endpoint"]), "end_session_endpoint")
            except SourceError as error:
                raise ProviderUnavailable(f"the provider's discovery document is not usable: {error}") from None
            self._cache.metadata, self._cache.metadata_at = metadata, time.monotonic()
            return metadata

    def _verify(self, token: Mapping[str, Any], attempt: Attempt) -> dict[str, Any]:
        if not isinstance(token.get("id_token"), str):
            raise LoginRefused(f"{self.settings.label} did not say who logged in; its answer has no identity token")
        offered = self.load_metadata().get("id_token_signing_alg_values_supported") or ["RS256"]
        registry = JWSRegistry(algorithms=[name for name in SIGNATURES if name in offered], strict_check_header=False)
        try:
            decoded = jwt.decode(token["id_token"], key=self._load_keys(), registry=registry)
        except InvalidKeyIdError:  # the provider may have changed its keys
            decoded = jwt.decode(token["id_token"], key=self._load_keys(renew=True), registry=registry)
        options = {
            "iss": {"essential": True, "value": self.settings.issuer},
            "aud": {"essential": True, "value": self.settings.client_id},
            "sub": {"essential": True},
        }
        parameters = {
            "nonce": attempt.nonce,
            "client_id": self.settings.client_id,
            "access_token": token.get("access_token"),
        }
        claims = CodeIDToken(decoded.claims, decoded.header, options, parameters)
        claims.validate(leeway=CLOCK_SKEW_SECONDS)
        values = dict(claims)
        if not isinstance(values["sub"], str) or not 0 < len(values["sub"]) <= 255:
            raise LoginRefused(f"{self.settings.label} did not say who logged in; its identity token has no usable subject")
        return values

    def _lacks_groups(self, values: Mapping[str, Any]) -> bool:
        return self.settings.groups_claim.split(".")[0] not in values

    def _fetch_user_info(self, client: OAuth2Client, metadata: Mapping[str, Any], subject: str) -> dict[str, Any]:
        address = str(metadata["userinfo_endpoint"])
        check_endpoint(address, "userinfo_endpoint")
        answer = client.get(address)
        answer.raise_for_status()
        values = answer.json()
        # OpenID Connect Core 5.3.2: claims about anybody else must not be used
        if not isinstance(values, dict) or values.get("sub") != subject:
            raise LoginRefused(f"{self.settings.label} gave claims about somebody else")
        return values

    def _load_keys(self, *, renew: bool = False) -> KeySet:
        with self._lock:
            keys, age = self._cache.keys, time.monotonic() - self._cache.keys_at
            if keys is not None and age < (KEYS_SECONDS if renew else METADATA_SECONDS):
                return keys
        fetched = KeySet.import_key_set(self._fetch_json(self.load_metadata()["jwks_uri"]))  # type: ignore[arg-type]
        with self._lock:
            self._cache.keys, self._cache.keys_at = fetched, time.monotonic()
        return fetched

    def _fetch_json(self, address: str) -> dict[str, Any]:
        with _report_failures(self.settings.label), self._http() as client:
            answer = client.get(address)
            answer.raise_for_status()
            value = answer.json()
            if not isinstance(value, dict):
                raise ValueError("the answer is not a JSON object")
            return value

    def _http(self) -> httpx2.Client:
        return httpx2.Client(timeout=TIMEOUT_SECONDS, transport=self._transport, follow_redirects=False)

    def _client(self) -> OAuth2Client:
        return OAuth2Client(
            client_id=self.settings.client_id,
            client_secret=self.settings.client_secret,
            scope=" ".join(self.settings.scopes),
            redirect_uri=self.redirect_uri,
            code_challenge_method="S256",
            timeout=TIMEOUT_SECONDS,
            transport=self._transport,
        )


@contextmanager
def _report_failures(label: str) -> Iterator[None]:
    """Errors of libraries as sentences; the log says more, but no code, token or claim."""
    try:
        yield
    except httpx2.HTTPError as error:
        log.warning("the OpenID provider does not respond as expected: %s", type(error).__name__)
        raise ProviderUnavailable(f"{label} does not respond; try again in a minute, or tell an administrator") from None
    except (AuthlibBaseError, JoseError) as error:
        log.warning("a login through the OpenID provider was refused: %s %s", type(error).__name__, error.error)
        raise LoginRefused(f"the login through {label} was refused ({error.error}); try again") from None
    except (SourceError, ValueError, KeyError, TypeError) as error:
        log.warning("the OpenID provider's answer could not be read: %s", type(error).__name__)
        raise ProviderUnavailable(f"the answer of {label} could not be read; tell an administrator") from None
