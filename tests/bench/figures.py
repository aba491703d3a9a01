"""What the scripts of the figures share: numbers as text, and tables that a terminal shows well too."""

import math


def time_text(seconds):
    """Three digits: 1.74 s, 254 ms, 38.2 ms, 3.71 µs."""
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            break
    value = seconds / scale
    return f"{value:.{max(0, 2 - int(math.log10(max(value, 1))))}f} {unit}"


def ratio_text(ratio):
    return f"{ratio:.1f}x" if ratio >= 9.95 else f"{ratio:.2f}x"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_table(header, rows):
    """The first column to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]

    def line(cells):
        shown = [cells[0].ljust(widths[0])]
        shown += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        print("| " + " | ".join(shown) + " |")

    line(header)
    print("|" + "|".join(["-" * (widths[0] + 2)] + ["-" * (w + 1) + ":" for w in widths[1:]]) + "|")
    for row in rows:
        line(row)
