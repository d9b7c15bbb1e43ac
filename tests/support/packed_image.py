"""Changes bytes of packed rule tables and makes their checksums match again."""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1
_LANES = (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89)
_BLOCK = 1 << 16
# The offset in the header of the place of the last section, the checksums of blocks (packed_format.h).
_SUMS = 64 + 11 * 16


def _mix(lane: int, value: int) -> int:
    lane = ((lane ^ value) * 0x9E3779B97F4A7C15) & _MASK
    return lane ^ lane >> 29


def checksum(data: bytes) -> int:
    """Computes the checksum of cpp/hiero/base/checksum.h."""
    lanes = [*_LANES[:3], _LANES[3] ^ len(data)]
    for at in range(0, len(data), 8):
        # Each word of 8 bytes goes to the next lane.
        lanes[at // 8 % 4] = _mix(lanes[at // 8 % 4], int.from_bytes(data[at : at + 8], "little"))
    total = lanes[0]
    for lane in lanes[1:]:
        total = _mix(total, lane)
    return total ^ total >> 32


def replace_bytes(image: bytes, old: bytes, new: bytes) -> bytes:
    """Returns the image with ``new`` in the only place of ``old``, and with matching checksums."""
    assert image.count(old) == 1 and len(old) == len(new)
    changed = bytearray(image.replace(old, new))
    (sums,) = struct.unpack_from("<Q", changed, _SUMS)
    for number, begin in enumerate(range(0, sums, _BLOCK)):
        block = bytes(changed[begin : min(begin + _BLOCK, sums)])
        struct.pack_into("<Q", changed, sums + 8 * number, checksum(block))
    return bytes(changed)
