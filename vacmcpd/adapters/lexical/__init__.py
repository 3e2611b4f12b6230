"""The embedded search: Zoekt's query language, an index that versions share, and a scanner.

::

    tokens, query, patterns    the language; one regular expression of it
    required                   what a text must hold for a pattern to match
    documents, languages,      what a file is: its text or why it has none, its language,
      tiers                    how far back in an answer it stands
    matching                   a query as a test of one file; the one meaning of the language
    scan, files, tree, cache   the test over every blob of a tree: slow, and the oracle
    trigrams, postings,        the index: keys of texts, lists of blocks, files of blobs,
      segments, manifests      trees as ordinals of blobs, all in one checked outer form
    held, blobs, rows,         building it: what is whole is used again, what is new is written,
      segment_writer           what became small is joined
    generations, views,        asking it: one tree over segments, the rows that can match,
      names, candidates,       the files that do, page by page in a ranked order
      planning, finding,
      counting, ranking,
      walking, indexed
"""

from .build import ScanBuilder
from .query import Query, parse
from .scan import ScanSearch

__all__ = ["Query", "ScanBuilder", "ScanSearch", "parse"]
