"""What the operating system refuses, in the words of the contract (spec section 2.5).

Every backend that touches files says why a call failed in these words, whatever the operating system calls it.
"""

from __future__ import annotations

import errno
from typing import Final

from .contract.files import FileErrorCode

_CODES: Final[dict[int | None, FileErrorCode]] = {
    errno.ENOENT: "not_found",
    errno.EACCES: "permission_denied",
    errno.EPERM: "permission_denied",
    errno.EROFS: "permission_denied",
    errno.ENOTDIR: "not_directory",
    errno.EISDIR: "is_directory",
    errno.EINVAL: "invalid",
    errno.ENAMETOOLONG: "invalid",
    errno.ELOOP: "invalid",
    errno.EILSEQ: "invalid",
    errno.ENOTSUP: "not_supported",
    errno.EOPNOTSUPP: "not_supported",
    errno.ENOSYS: "not_supported",
    errno.EXDEV: "not_supported",
    errno.ENOSPC: "no_space",
    errno.EDQUOT: "no_space",
    errno.EFBIG: "no_space",
    errno.EEXIST: "exists",
    errno.ENOTEMPTY: "exists",
}


def code_of(error: OSError | ValueError) -> FileErrorCode:
    """What an error means in the words of the contract. A ValueError is about a path that no file can have: one with
    U+0000, or one that the file system's encoding cannot spell.
    """
    return _CODES.get(error.errno, "unknown") if isinstance(error, OSError) else "invalid"
