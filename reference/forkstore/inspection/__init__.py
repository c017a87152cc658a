"""What is in a session file, and what is wrong with it: the work behind `forkstore inspect`.

A file is read once, line by line, and never written. Opening stops at the first fault; an inspection goes on behind it,
so it folds the lines itself, with the decoders that opening uses. What opening refuses is an error here, in the same
line and for the same reason. Structure is kept (ids, parents, keys), payload is not.

The rooms: `inspecting` runs it, `lines` reads, `headers` understands line 1, `format_4` and `legacy` fold the lines
behind it, `entries` and `rows` hold what these fold into, `findings` what they have to say, `facts` what comes out;
`document` and `text` show it.
"""

from .facts import Inspection
from .inspecting import inspect_file
from .lines import Progress, UnreadableFile

__all__ = ["Inspection", "Progress", "UnreadableFile", "inspect_file"]
