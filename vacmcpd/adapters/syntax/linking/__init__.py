"""Links the facts of one version: what each call site calls, and what each file read to know it.

values     what an expression may be: functions, classes, instances, modules, external names
units      one file's facts with its scopes tied together
tree       the files of the version
linker     demand-driven evaluation with cycles, and the record of what was read
evaluate   expressions
members    attributes, method resolution order, dispatch
sites      the targets of call sites
records    what is kept of a file's link
link       rounds, reuse of an earlier version
"""
