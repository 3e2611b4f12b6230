"""The embedded call graph.

facts        what one file says, in one form for every language
languages    one module a language: syntax tree to facts, and the language's rules
building     how a language module writes facts
linking      evaluates the facts of one version into edges, and records what each file read
"""
