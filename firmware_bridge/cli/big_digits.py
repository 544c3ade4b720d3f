"""Board numbers and seats in letters that are read from beside the machine, some steps away from the screen."""

from __future__ import annotations

_SHAPES = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", "  #", "  #"),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
    "N": ("#  #", "## #", "# ##", "#  #", "#  #"),
    "O": ("###", "# #", "# #", "# #", "###"),
    "R": ("###", "# #", "## ", "# #", "# #"),
    "T": ("###", " # ", " # ", " # ", " # "),
    "H": ("# #", "# #", "###", "# #", "# #"),
    "E": ("###", "#  ", "## ", "#  ", "###"),
    "A": ("###", "# #", "###", "# #", "# #"),
    "S": ("###", "#  ", "###", "  #", "###"),
    "U": ("# #", "# #", "# #", "# #", "###"),
    "W": ("#   #", "#   #", "# # #", "## ##", "#   #"),
}
ROWS = 5


def big_number(number: int, *, scale: int = 1, ink: str = "█") -> str:
    """The number in digits ``5 * scale`` lines high; a digit is ``6 * scale`` columns wide."""
    return big_text(str(number), scale=scale, ink=ink)


def big_text(text: str, *, scale: int = 1, ink: str = "█") -> str:
    """Digits, or the name of a seat, ``5 * scale`` lines high."""
    lines = []
    for row in range(ROWS):
        cells = ((_SHAPES[sign][row]) for sign in text)
        line = ("  " * scale).join("".join(dot * 2 * scale for dot in cell) for cell in cells)
        lines += [line.replace("#", ink).rstrip()] * scale
    return "\n".join(lines)
