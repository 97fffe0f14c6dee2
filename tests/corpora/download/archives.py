"""Archives for tests, honest and hostile."""

import gzip
import io
import tarfile
import warnings
import zipfile
from collections.abc import Mapping


def zipped(members: Mapping[str, bytes], *, links: Mapping[str, str] | None = None) -> bytes:
    """A zip; links are members that Unix tools make symbolic links of."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        for name, target in (links or {}).items():
            link = zipfile.ZipInfo(name)
            link.external_attr = 0o120777 << 16
            archive.writestr(link, target)
    return out.getvalue()


def zipped_twice(name: str, first: bytes, second: bytes) -> bytes:
    """A zip with two members of one name."""
    out = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, first)
        archive.writestr(name, second)
    return out.getvalue()


def tarred(*members: tuple[str, bytes] | tarfile.TarInfo, gzipped: bool = True) -> bytes:
    """A tar of files, given with what they hold, and of anything else that a TarInfo can be."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
            else:
                name, content = member
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0) if gzipped else out.getvalue()


def special(name: str, *, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """A member that is no file: a link, a device, a pipe."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info
