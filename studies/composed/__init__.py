"""Two faults one after the other (sections A.6 and C.4): the first still governs what the second may do."""
