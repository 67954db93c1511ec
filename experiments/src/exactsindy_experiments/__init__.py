"""The benchmarks of exactsindy and the experiments of the paper: one configuration row in, one result row out."""
