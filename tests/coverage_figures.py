"""What a run with `scripts/test --coverage` came to: how much of Kith in all, and the files that it knows least of."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

LEAST = 10
FEWEST_LINES = 10  # of files that are worth a line here


def told(figures: dict[str, Any]) -> list[str]:
    total = figures["totals"]
    parts = f"{_share(total, 'lines', 'statements')} of lines, {_share(total, 'branches', 'branches')} of branches"
    lines = [f"{total['percent_covered']:.1f} % of Kith: {parts}."]
    files = [
        (one["summary"]["percent_covered"], name, one)
        for name, one in figures["files"].items()
        if one["summary"]["num_statements"] >= FEWEST_LINES
    ]
    for percent, name, one in sorted(files)[:LEAST]:
        missing = ", ".join(map(str, one["missing_lines"][:12]))
        lines.append(f"{percent:5.1f} %  {name}  lines {missing}")
    return lines


def _share(total: dict[str, Any], covered: str, all_: str) -> str:
    return f"{100 * total[f'covered_{covered}'] / max(1, total[f'num_{all_}']):.1f} %"


if __name__ == "__main__":
    print("\n".join(told(json.loads(Path(sys.argv[1]).read_text()))))
