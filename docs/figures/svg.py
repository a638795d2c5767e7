"""The few shapes that the figures of docs/ are made of. Colours follow the reader's theme."""

from __future__ import annotations

from html import escape

STYLE = """
.back{fill:#ffffff} text{fill:#1f2328;font-family:sans-serif;font-size:12px}
.title{font-size:15px;font-weight:bold} .strong{font-weight:bold} .note{fill:#59636e;font-size:11px}
.box{fill:#f6f8fa;stroke:#818b98} .line{stroke:#59636e;fill:none;stroke-width:1.5} .tip{fill:#59636e}
.grid{stroke:#d1d9e0} .gemm{fill:#0969da} .send{fill:#bc4c00} .wait{fill:none;stroke:#59636e;stroke-dasharray:3 3}
.own{fill:#1a7f37} .bar{fill:#ffffff;font-size:11px}
@media (prefers-color-scheme: dark) {
.back{fill:#0d1117} text{fill:#e6edf3} .note{fill:#9198a1} .box{fill:#151b23;stroke:#656c76}
.line{stroke:#9198a1} .tip{fill:#9198a1} .grid{stroke:#3d444d} .gemm{fill:#1f6feb} .send{fill:#bd561d}
.own{fill:#238636} .wait{stroke:#9198a1} .bar{fill:#ffffff}
}"""


class Figure:
    """A figure of 900 columns; x grows to the right, y downwards."""

    def __init__(self, title: str, height: int) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" viewBox="0 0 900 {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{STYLE}\n</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path class="tip" d="M0,0 L8,4 L0,8 z"/></marker></defs>',
            '<rect class="back" width="100%" height="100%"/>',
        ]
        self.text(24, 28, title, "title")

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        self.parts.append(f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(words)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, kind: str = "box") -> None:
        self.parts.append(f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="3"/>')

    def box(self, x: float, y: float, width: float, height: float, *lines: str) -> None:
        """A box with lines in its middle, the first one in bold."""
        self.rect(x, y, width, height)
        top = y + height / 2 - 7 * (len(lines) - 1) + 4
        for number, line in enumerate(lines):
            self.text(x + width / 2, top + 15 * number, line, "note" if number else "strong", "middle")

    def arrow(self, *points: tuple[float, float], note: str = "") -> None:
        """A line through the points, with a tip at its end; the note stands above its first part."""
        path = " L".join(f"{x:.0f},{y:.0f}" for x, y in points)
        self.parts.append(f'<path class="line" d="M{path}" marker-end="url(#tip)"/>')
        if note:
            (x, y), (to, below) = points[:2]
            vertical = x == to
            self.text((x + to) / 2 + (6 if vertical else 0), (y + below) / 2 + (4 if vertical else -5), note, "note",
                      "start" if vertical else "middle")

    def line(self, x: float, y: float, to: float, below: float) -> None:
        self.parts.append(f'<line class="grid" x1="{x:.0f}" y1="{y:.0f}" x2="{to:.0f}" y2="{below:.0f}"/>')

    def done(self) -> str:
        return "\n".join([*self.parts, "</svg>", ""])
