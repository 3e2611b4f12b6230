"""The files of a repository's call graphs: what versions share is in them once.

packs        many small items as few compressed blocks
blobs        what is kept of a blob's facts for queries; records as bytes
segments     files of blobs, records and rows, written once
manifests    a version: which rows it has, and what its graph comes to
generation   the segments of a store as one, and its manifests by tree
held         a generation as a builder finds it: what is whole is used again
merging      segments that became small or wasteful are joined
"""
