"""Answers from the stored graph of one version.

columns      a version's symbols and edges as arrays, in the order of answers
ordering     that order
loading      from the files of a store to columns
symbols      what a name that is asked for means
near         names that are spelled alike
walking      the edges around a symbol, up to a depth
candidates   edges by bare name, made when they are asked for
rows         edges as values, made when they are read
"""
