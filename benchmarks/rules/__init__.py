"""What the rules of the stock templates catch of the faults that operators plant in the corpus."""
