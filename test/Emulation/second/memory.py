# SPDX-License-Identifier: MIT
"""Memory of a launch. What the PTX ISA leaves undefined ends the run: an address
outside or not aligned, a race in shared memory, a read of what an asynchronous
copy has not brought yet, a read by the async proxy without a proxy fence (PTX
ISA, "Memory Consistency Model" and "Async proxy")."""
import numpy as np

UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Fault(Exception):
    """A program did what it may not."""


class Global:
    """Buffers by their addresses."""

    def __init__(self, buffers):
        """buffers: (address, bytes), by address."""
        self.begins = np.array([a for a, _ in buffers], np.uint64)
        self.sizes = np.array([len(b) for _, b in buffers], np.uint64)
        self.places, at = [], 0
        for address, data in buffers:
            at = (at + 31) // 16 * 16 + address % 16
            self.places.append(at)
            at += len(data)
        self.data = np.zeros((at + 31) // 16 * 16, np.uint8)
        for place, (_, data) in zip(self.places, buffers):
            self.data[place:place + len(data)] = np.frombuffer(data, np.uint8)
        self.places = np.array(self.places, np.uint64)

    def bytes_of(self, i):
        place = int(self.places[i])
        return self.data[place:place + int(self.sizes[i])]

    def index(self, addresses, size, count):
        """Where elements of `size` bytes lie, `count` in a row."""
        if (addresses % np.uint64(size * count)).any():
            raise Fault(f"an address is no multiple of {size * count}")
        which = np.searchsorted(self.begins, addresses, "right") - 1
        inside = addresses - self.begins[which]
        if (which < 0).any() or (inside + np.uint64(size * count) > self.sizes[which]).any():
            raise Fault("an address outside of all buffers")
        return ((self.places[which] + inside) // np.uint64(size)).astype(np.int64)

    def load(self, addresses, size, count):
        index, data = self.index(addresses, size, count), self.data.view(UNSIGNED[size])
        return [data[index + i] for i in range(count)]

    def store(self, addresses, size, values):
        index, data = self.index(addresses, size, len(values)), self.data.view(UNSIGNED[size])
        for i, value in enumerate(values):
            data[index + i] = value


class Shared:
    """Shared memory of several blocks, which know of each granule (the smallest
    piece that the kernel stores) who wrote and read it last, and when."""

    def __init__(self, blocks, size, granule, block_of, warp_of):
        self.size = size = (size + 15) // 16 * 16
        self.granule, self.block, self.warp = granule, block_of, warp_of
        self.data = np.full(blocks * size, 0x5A, np.uint8)
        granules = blocks * size // granule
        self.writer = np.full(granules, -1, np.int32)
        self.written = np.zeros((granules, 2), np.int32)  # when: block's, warp's
        self.reader = np.full(granules, -1, np.int32)
        self.read = np.full((granules, 2), -1, np.int32)
        self.others = np.full(granules, -1, np.int32)  # when several warps read
        self.mates = np.full(granules, -1, np.int64)  # when several of a warp did
        self.pending = np.zeros(granules, bool)  # an asynchronous copy's
        self.unfenced = np.zeros(granules, bool)  # of the generic proxy
        self.time = np.zeros(blocks, np.int32)  # barriers of a block
        self.turn = np.zeros(len(block_of) // 32 + 1, np.int32)  # and of a warp
        self.stranger = 0  # reads of what nobody wrote

    def places(self, threads, addresses, size):
        addresses = addresses.astype(np.int64)
        if (addresses % size).any():
            raise Fault(f"a shared address is no multiple of {size}")
        if (addresses < 0).any() or (addresses + size > self.size).any():
            raise Fault("an address outside of shared memory")
        return self.block[threads] * self.size + addresses

    def granules(self, places, size):
        count = max(size // self.granule, 1)
        return (places // self.granule)[:, None] + np.arange(count)

    def ordered(self, threads, who, when):
        """Whether what `who` did at `when` is before what the threads do now."""
        mine = threads[:, None]
        same_warp = self.warp[who] == self.warp[mine]
        return ((who < 0) | (who == mine)
                | (when[..., 0] < self.time[self.block[mine]])
                | (same_warp & (when[..., 1] < self.turn[self.warp[mine]])))

    def note_read(self, threads, places, size):
        g = self.granules(places, size)
        if self.pending[g].any():
            raise Fault("a read of what an asynchronous copy has not brought")
        self.stranger += int((self.writer[g] < 0).sum())
        if not self.ordered(threads, self.writer[g], self.written[g]).all():
            raise Fault("a race: read of what another thread has just written")
        mine = np.broadcast_to(threads[:, None], g.shape)
        now, turn = self.time[self.block[mine]], self.turn[self.warp[mine]]
        self.note_readers(g, mine, self.reader[g], self.read[g], now, turn)
        self.reader[g], self.read[g, 0], self.read[g, 1] = mine, now, turn
        self.note_readers(g, mine, self.reader[g], self.read[g], now, turn)

    def note_readers(self, g, mine, who, when, now, turn):
        """Several read a granule at one time."""
        both = (who >= 0) & (who != mine) & (when[..., 0] == now)
        apart = both & (self.warp[who] != self.warp[mine])
        self.others[g[apart]] = now[apart]
        mates = both & ~apart & (when[..., 1] == turn)
        self.mates[g[mates]] = self.turns(mine)[mates]

    def turns(self, threads):
        warp = self.warp[threads].astype(np.int64)
        return warp << 32 | self.turn[warp]

    def note_write(self, threads, places, size, pending=False):
        g = self.granules(places, size)
        mine = np.broadcast_to(threads[:, None], g.shape)
        if self.pending[g].any():
            raise Fault("a write to where an asynchronous copy goes")
        if not self.ordered(threads, self.writer[g], self.written[g]).all():
            raise Fault("a race: two threads write to one place")
        if not self.ordered(threads, self.reader[g], self.read[g]).all():
            raise Fault("a race: write of what another thread has just read")
        if ((self.others[g] == self.time[self.block[mine]])
                | (self.mates[g] == self.turns(mine))).any():
            raise Fault("a race: write of what other threads have just read")
        self.writer[g] = mine
        if (self.writer[g] != mine).any():
            raise Fault("a race: two threads write to one place at once")
        self.pending[g] = pending
        self.written[g, 0] = self.time[self.block[mine]]
        self.written[g, 1] = self.turn[self.warp[mine]]
        self.unfenced[g] = True

    def load(self, threads, addresses, size, count):
        places = self.places(threads, addresses, size * count)
        self.note_read(threads, places, size * count)
        data = self.data.view(UNSIGNED[size])
        return [data[places // size + i] for i in range(count)]

    def store(self, threads, addresses, size, values):
        places = self.places(threads, addresses, size * len(values))
        self.note_write(threads, places, size * len(values))
        data = self.data.view(UNSIGNED[size])
        for i, value in enumerate(values):
            data[places // size + i] = value

    def begin_copy(self, threads, addresses, size):
        places = self.places(threads, addresses, size)
        self.note_write(threads, places, size, pending=True)
        return places

    def end_copy(self, threads, places, size, data):
        """data: bytes, a row for each thread."""
        g = self.granules(places, size)
        self.pending[g] = False
        self.written[g, 0] = self.time[self.block[threads]][:, None]
        self.written[g, 1] = self.turn[self.warp[threads]][:, None]
        self.unfenced[g] = True
        self.data[places[:, None] + np.arange(size)] = data

    def fence_proxy(self, threads):
        """What these threads wrote may be read by the async proxy."""
        mine = np.zeros(len(self.block), bool)
        mine[threads] = True
        self.unfenced &= ~mine[self.writer]

    def load_async(self, thread, places):
        """Bytes that a matrix instruction reads, of the block of `thread`."""
        places = self.block[thread] * self.size + places
        if (places % self.size + 16 > self.size).any():
            raise Fault("a matrix outside of shared memory")
        g = (places // self.granule)[:, None] + np.arange(16 // self.granule)
        if self.pending[g].any():
            raise Fault("a matrix instruction reads what is not there yet")
        if self.unfenced[g].any():
            raise Fault("a matrix instruction reads without fence.proxy.async")
        self.stranger += int((self.writer[g] < 0).sum())
        now = self.time[self.block[thread]]
        if ((self.writer[g] >= 0) & (self.written[g][..., 0] == now)).any():
            raise Fault("a matrix instruction reads what no barrier is behind")
        self.others[g] = self.time[self.block[thread]]
        return self.data[places[:, None] + np.arange(16)]
