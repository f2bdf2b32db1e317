"""Secrets at rest: encrypted with a key of their workspace's own, derived from the master key."""

import base64
import os
import secrets
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


class CannotDecrypt(Exception):
    """The secret was written under another master key, or was altered."""


def _box(master: str, owner: str) -> Fernet:
    key = HKDF(
        algorithm=hashes.SHA256(), length=32, salt=None, info=f"routines secret {owner}".encode()
    ).derive(master.encode())
    return Fernet(base64.urlsafe_b64encode(key))


def encrypt(master: str, owner: str, secret: str) -> bytes:
    """`secret` under the key of `owner` (a workspace's id)."""
    return _box(master, owner).encrypt(secret.encode())


def decrypt(master: str, owner: str, sealed: bytes) -> str:
    """The secret again. Raises CannotDecrypt when it doesn't belong to this key and owner."""
    try:
        return _box(master, owner).decrypt(bytes(sealed)).decode()
    except InvalidToken as error:
        raise CannotDecrypt("This secret was stored under another key. Enter it again.") from error


def secret_key(file: Path) -> str:
    """The key kept in `file`, made once, readable by its owner only (mode 0600)."""
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        pass
    file.parent.mkdir(parents=True, exist_ok=True)
    made = secrets.token_urlsafe(64)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as out:
        out.write(made)
        out.flush()
        os.fsync(out.fileno())
    try:
        os.link(draft, file)  # whoever links first wins; the key never changes afterwards
    except FileExistsError:
        return file.read_text().strip()
    finally:
        draft.unlink()
    return made
