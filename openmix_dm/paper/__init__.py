"""The paper's tables as data: what each cell is, which config makes it, and how results are collected."""
