"""Builds some histories and prints the digests of the files that came of it."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from store.places import Place
from store.trees import history

told = []
for seed in range(6):
    place = Place(processes=int(sys.argv[1]))
    for files in history(seed, 2):
        place.made(files)
    told.append([[file.role, file.digest] for file in place.state.files])
print(json.dumps(told))
