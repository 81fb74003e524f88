"""Ask for the layouts of every captured TTGIR; compare each layout with the compiler's own, place by place.

    python survey_layouts.py FOLDER

Reads what `capture_gallery.py` has written there; writes one JSON document. It runs in a process of its own
because a process can hold only one Triton.
"""

import json
import pickle
import sys
from pathlib import Path

from triton._C.libtriton.linear_layout import LinearLayout as CompilersLayout

from explorer.analysis.linear_layout import LinearLayout
from explorer.model import Request, to_plain
from explorer.pipeline.questions.layouts import layouts
from explorer.pipeline.targets import find_target

TARGETS = ("cuda:80", "cuda:90", "cuda:100", "hip:gfx942")


def disagreements(bases):
    """The places where our algebra and the compiler's lead to different elements."""
    inputs = [(each["name"], each["bases"]) for each in bases["inputs"]]
    names = [f"dim{index}" for index in range(len(bases["shape"]))]
    compilers = CompilersLayout.from_bases(inputs, names, list(bases["shape"]), False)
    ours = LinearLayout(
        tuple((name, tuple(map(tuple, each))) for name, each in inputs), tuple(bases["shape"])
    )
    return [
        place
        for place in ours.places()
        if tuple(compilers.apply(place)[name] for name in names) != ours.apply(place)
    ]


def main() -> None:
    folder = Path(sys.argv[1])
    surveys, checked, wrong = {}, set(), []
    for path in sorted(folder.glob("*.pickle")):
        target = path.stem.split("@")[1]
        if target not in TARGETS:
            continue
        stages = [event for event in pickle.loads(path.read_bytes()) if event.kind == "stage"]
        text = next(stage.text for stage in stages if stage.name == "ttgir")
        found = to_plain(layouts(Request(text, target, ""), find_target(target)))
        surveys[path.stem] = found
        for layout in found["layouts"]:
            key = json.dumps(layout["bases"])
            if layout["bases"] and key not in checked:
                checked.add(key)
                if disagreements(layout["bases"]):
                    wrong.append(layout["encoding"])
    document = {"surveys": surveys, "checked": len(checked), "wrong": wrong}
    (folder / "layouts.json").write_text(json.dumps(document))


if __name__ == "__main__":
    main()
