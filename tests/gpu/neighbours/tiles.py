"""Where the wave groups of a generated GEMM may end: the rules of core/config/tiling.cpp and strategies/waiting/arrivals.cpp, for the ways
of this test. A problem's rows are cut into row blocks, a row block into panels of one tile's height, and `swizzle`
panels of every row block are walked together, column by column."""

from __future__ import annotations

from dataclasses import dataclass

#: Parts of all tiles after which a wave group ends, before the last one.
PARTS = (0.5, 0.875)


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(frozen=True)
class Order:
    """The tiles of `blocks` row blocks with `block_rows` rows each, and `n` columns."""

    block_rows: int
    n: int
    blocks: int
    tile_rows: int
    tile_columns: int
    swizzle: int

    @property
    def panels(self) -> int:
        """Row panels of one row block."""
        return ceil_div(self.block_rows, self.tile_rows)

    @property
    def columns(self) -> int:
        return ceil_div(self.n, self.tile_columns)

    @property
    def tiles(self) -> int:
        return self.panels * self.blocks * self.columns

    def column_tiles(self, swizzle: int) -> int:
        """Tiles of one column of a swizzle group. The last swizzle group may be lower."""
        return self.blocks * min(self.swizzle, self.panels - swizzle * self.swizzle)

    def whole_columns(self, tiles: int) -> int:
        """The tiles up to the last column that ends at or before `tiles`."""
        whole = self.columns * self.column_tiles(0)
        swizzle = tiles // whole
        before = min(swizzle * whole, self.tiles)
        if before == self.tiles:
            return before
        height = self.column_tiles(swizzle)
        return before + (tiles - before) // height * height

    def whole_swizzles(self, tiles: int) -> int:
        """The tiles up to the last swizzle group that ends at or before `tiles`."""
        whole = self.columns * self.column_tiles(0)
        return min(tiles // whole * whole, self.tiles)


def wave_groups(order: Order, only_whole_swizzles: bool) -> tuple[int, ...]:
    """Tiles of each group of `signaled` and `peer_store`. Copy engines move whole swizzle groups only."""
    cut = order.whole_swizzles if only_whole_swizzles else order.whole_columns
    ends = [cut(int(part * order.tiles)) for part in PARTS] + [order.tiles]
    groups = [end - begin for begin, end in zip([0] + ends, ends)]
    return tuple(tiles for tiles in groups if tiles > 0)


def arrival_groups(order: Order, ranks: int) -> tuple[int, ...]:
    """Tiles of each group of `waiting`: the rank's own row block, then each other one in two groups where it has more
    than one swizzle group. `order` is that of one row block."""
    first = order.whole_swizzles(order.columns * order.column_tiles(0))
    of_block = [first, order.tiles - first] if first < order.tiles else [order.tiles]
    return (order.tiles, *(of_block * (ranks - 1)))
