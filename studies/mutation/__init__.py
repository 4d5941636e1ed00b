"""Mutation: each rule's predicate broken in turn, in a copy of the package, to see that the tests notice."""
