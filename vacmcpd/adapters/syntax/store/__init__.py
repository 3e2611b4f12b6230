"""The files of a repository's call graphs: what versions share is in them once.

packs        many small items as few compressed blocks
coding       facts and edges as bytes
leaves       what records read
items        a blob's symbols for queries, records in parts
segments     files of blobs, records and rows, written once
manifests    a version: which rows it has, and what its graph comes to
generation   the segments of a store as one, and its manifests by tree
layered      a generation and what a build adds to it
held         a generation as a builder finds it: what is whole is used again
merging      segments that became small or wasteful are joined
"""
