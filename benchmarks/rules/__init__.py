"""What the rules of the stock templates catch, and what they accuse wrongly, on our corpus."""
