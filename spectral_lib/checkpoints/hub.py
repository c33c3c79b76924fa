"""A checkpoint on a model hub, through huggingface_hub and its cache."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spectral_lib.checkpoints.directory import CONFIG, FORMATS
from spectral_lib.checkpoints.patience import within
from spectral_lib.checkpoints.sharded import read_weight_map
from spectral_lib.checkpoints.source import quote
from spectral_lib.checkpoints.transfer import (
    SERVER_ERRORS,
    TOO_MANY_REQUESTS,
    RemoteFile,
    please_wait,
)
from spectral_lib.errors import HubError, HubUnreachableError, MissingExtraError, one_line

#: Seconds that the hub has for its first answer, the repetitions of the hub library included.
PATIENCE = 30.0
#: The hashes that the hub gives as ETag: git's SHA-1 of small files, the SHA-256 of large ones.
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


def download(repo: str, *, revision: str | None, offline: bool | None) -> Path:
    """Bring configuration and weights of a hub id into the cache and return their directory.

    Only the files that are read are downloaded. ``offline=True`` uses the cache alone; ``None``
    leaves the choice to the hub library, which obeys HF_HUB_OFFLINE.

    Raises
    ------
    HubError
        Repository, revision or network is not there, or access is denied; the message says which.
    MissingExtraError
        huggingface_hub is not installed.
    """
    where, why_offline = hub_name(repo, revision), _why_offline(repo, revision, offline)
    config = _fetch(repo, CONFIG, revision, why_offline)
    if config is None:
        raise HubError(f"{where}: the repository has no {CONFIG}")
    # The commit of the first file pins the rest: all come from one state of the repository, and
    # what the cache holds of that commit needs no network.
    directory, commit = config.parent, config.parent.name
    cached = [form for form in FORMATS if (directory / form).is_file()]
    for form in cached or FORMATS:
        weights = _fetch(repo, form, commit, why_offline)
        if weights is None:
            continue
        if form.endswith(".index.json"):
            for shard in sorted({*read_weight_map(weights).values()}):
                if _fetch(repo, shard, commit, why_offline) is None:
                    raise HubError(
                        f"{where}: {form} names {quote(shard)}, which the repository does not have"
                    )
        return directory
    raise HubError(f"{where}: no supported weights, expected one of {', '.join(FORMATS)}")


def _missing_extra(repo: str) -> MissingExtraError:
    return MissingExtraError(
        f"the hub id {repo} needs huggingface_hub: pip install 'spectral-lib[hub]', "
        "or download the checkpoint and give its directory"
    )


def hub_name(repo: str, revision: str | None) -> str:
    """Return ``owner/name``, or ``owner/name@revision`` where one was asked for."""
    return repo if revision is None else f"{repo}@{one_line(revision, 60)}"


def _why_offline(repo: str, revision: str | None, offline: bool | None) -> str | None:
    """Return why only the cache can serve, None when the hub answers.

    One question without repetition: the downloads of the hub library try for half a minute.
    """
    try:
        from huggingface_hub import constants, errors, get_hf_file_metadata, hf_hub_url
    except ImportError as error:
        raise _missing_extra(repo) from error
    if offline or constants.HF_HUB_OFFLINE:
        return "offline"
    try:
        url = hf_hub_url(repo, CONFIG, revision=revision)
        within(PATIENCE, lambda: get_hf_file_metadata(url))
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status == TOO_MANY_REQUESTS or status >= SERVER_ERRORS:
            return f"the hub cannot be reached (status {status})"  # a download would try again
    except ValueError:
        pass  # an answer, which the download will explain
    except Exception as error:  # the HTTP library behind the hub's differs between versions
        return f"the hub cannot be reached ({one_line(error, 120)})"
    return None


def _fetch(repo: str, file: str, revision: str | None, why_offline: str | None) -> Path | None:
    """Return the cached path of a file, or None where the repository does not have it."""
    from huggingface_hub import errors, hf_hub_download

    where, cached_only = hub_name(repo, revision), why_offline is not None
    try:
        with _quiet(), _refusals(where):
            found = hf_hub_download(repo, file, revision=revision, local_files_only=cached_only)
    except errors.LocalEntryNotFoundError as error:
        cause = one_line(error.__cause__ or error, 120)
        raise HubError(
            f"{where}: {why_offline or f'the hub cannot be reached ({cause})'}, and {file} is not "
            "in the cache; run once with a connection, or give the directory of a local copy"
        ) from error
    except errors.EntryNotFoundError:
        return None
    except HubError:
        raise
    except Exception as error:
        raise HubError(f"{where}: download of {file} failed: {one_line(error, 160)}") from error
    return Path(found)


@dataclass(frozen=True)
class HubFile(RemoteFile):
    """A file on the hub, and the commit of the repository that it belongs to."""

    commit: str = ""


def announce(repo: str, file: str, revision: str | None) -> HubFile | None:
    """Ask the hub for a file's length, hash and commit; None where the repository has it not.

    One question, without repetition.

    Raises
    ------
    HubUnreachableError
        The hub does not answer, or asks to come back later.
    HubError
        Repository or revision is not there, access is denied, or the answer has no hash.
    MissingExtraError
        huggingface_hub is not installed.
    """
    try:
        from huggingface_hub import errors, get_hf_file_metadata, get_token, hf_hub_url
    except ImportError as error:
        raise _missing_extra(repo) from error
    where = hub_name(repo, revision)
    try:
        url = hf_hub_url(repo, file, revision=revision)
        with _quiet(), _refusals(where):
            answer = within(PATIENCE, lambda: get_hf_file_metadata(url))
    except errors.EntryNotFoundError:
        return None
    except HubError:
        raise
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status == TOO_MANY_REQUESTS:
            wait = please_wait(error.response.headers.get("Retry-After"))
            raise HubUnreachableError(f"{where}: {wait}") from error
        if status >= SERVER_ERRORS:
            raise HubUnreachableError(
                f"{where}: the hub cannot be reached (status {status})"
            ) from error
        raise HubError(f"{where}: the hub refuses {file} (status {status})") from error
    except ValueError as error:
        raise HubError(f"{where}: {one_line(error, 160)}") from error
    except Exception as error:  # the HTTP library behind the hub's differs between versions
        raise HubUnreachableError(
            f"{where}: the hub cannot be reached ({one_line(error, 120)})"
        ) from error
    commit, size, digest = answer.commit_hash, answer.size, answer.etag
    if commit is None or size is None or digest is None or size < 0 or not _HASH.fullmatch(digest):
        raise HubError(f"{where}: the hub states no commit, length or hash of {file}")
    token = get_token()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return HubFile(f"{where}: {file}", url, size, digest, headers, commit)


@contextmanager
def _refusals(where: str) -> Iterator[None]:
    """Say in one line what the hub says of a whole repository."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise HubError(f"{where}: access is gated; accept its terms and log in") from error
    except errors.RepositoryNotFoundError as error:
        raise HubError(f"{where}: no such repository on the hub, or it is private") from error
    except errors.RevisionNotFoundError as error:
        raise HubError(f"{where}: the repository has no such revision") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the hub library's hints off stderr; what matters comes back as an error."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
