"""Exact best-subset selection: solve, path, pool, refit."""

from exactsindy.solver.arguments import ridge_matrix as ridge_matrix
from exactsindy.solver.arguments import total as total
from exactsindy.solver.batch import solve_many as solve_many
from exactsindy.solver.batch import solve_paths as solve_paths
from exactsindy.solver.display import equation as equation
from exactsindy.solver.path import Path as Path
from exactsindy.solver.path import solve_path as solve_path
from exactsindy.solver.pool import Member as Member
from exactsindy.solver.pool import Pool as Pool
from exactsindy.solver.pool import solve_pool as solve_pool
from exactsindy.solver.settings import Deadline as Deadline
from exactsindy.solver.settings import Progress as Progress
from exactsindy.solver.settings import Settings as Settings
from exactsindy.solver.settings import Status as Status
from exactsindy.solver.settings import Total as Total
from exactsindy.solver.solution import Solution as Solution
from exactsindy.solver.solution_records import path_record as path_record
from exactsindy.solver.solution_records import plain as plain
from exactsindy.solver.solution_records import pool_record as pool_record
from exactsindy.solver.solution_records import read_path as read_path
from exactsindy.solver.solution_records import read_pool as read_pool
from exactsindy.solver.solution_records import read_solution as read_solution
from exactsindy.solver.solution_records import solution_record as solution_record
from exactsindy.solver.solving import refit as refit
from exactsindy.solver.solving import solve as solve
