"""`make shots`: a picture of every page, from the demo's data, beside its mock-up."""
