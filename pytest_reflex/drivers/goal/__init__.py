"""The goal loop: a spec becomes criteria, and the loop ends only when each of them is proven."""
