"""Findings: everything that is wrong with a plug-in, collected before anything is raised."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from discreet.errors import DiscreetError, PluginError

T = TypeVar("T")


class ConformanceError(PluginError, AssertionError):
    """A plug-in does not keep the contract; ``findings`` are the sentences that say how."""

    def __init__(self, subject: str, findings: tuple[str, ...]) -> None:
        self.findings = findings
        many = "1 thing is" if len(findings) == 1 else f"{len(findings)} things are"
        super().__init__("\n".join([f"{many} wrong with {subject}:", *(f"  - {finding}" for finding in findings)]))


class Findings:
    """Collects sentences on one plug-in."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Note a finding, once."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)

    def need(self, holds: bool, sentence: str) -> bool:
        """Note the finding where the rule is not kept; say whether it is."""
        if not holds:
            self.add(sentence)
        return holds

    def attempt(self, situation: str, call: Callable[..., T], *arguments: Any, must: bool = False, **named: Any) -> T | None:
        """What the call returns, or None where it raised.

        That is a finding, unless the data may be refused (not ``must``) and are, with a sentence.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return call(*arguments, **named)
        except DiscreetError as error:
            if must:
                self.add(f"{situation}: it refuses data that it should take: {error}")
            elif len(str(error).split()) < 3:
                self.add(
                    f"{situation}: it refuses without a reason; name the attribute, the rule and the value (it says '{error}')"
                )
        except Warning as warning:
            self.add(f"{situation}: it warns ({_kind(warning)}: {warning}{_place(warning)}); decide the case in the code instead")
        except Exception as error:  # noqa: BLE001 - whatever a stranger's code raises is a finding
            self.add(
                f"{situation}: it raises {_kind(error)}: {error}{_place(error)}; "
                "make it work, or raise a DataError that names the attribute, the rule and the value"
            )
        return None

    def tell(self) -> None:
        """Raise where anything was found."""
        if self.sentences:
            raise ConformanceError(self.subject, tuple(self.sentences))


def _kind(error: BaseException) -> str:
    return type(error).__name__


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
