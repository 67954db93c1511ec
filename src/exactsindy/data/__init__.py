"""Measured data: trajectories and fields, reading, input checks, splitting, POD."""

from exactsindy.data.columns import Columns as Columns
from exactsindy.data.columns import Samples as Samples
from exactsindy.data.columns import Target as Target
from exactsindy.data.columns import parse_targets as parse_targets
from exactsindy.data.csv_file import read_csv as read_csv
from exactsindy.data.field import Field as Field
from exactsindy.data.frames import by_name as by_name
from exactsindy.data.frames import is_labelled_row as is_labelled_row
from exactsindy.data.frames import is_named as is_named
from exactsindy.data.input_checks import masked_entries as masked_entries
from exactsindy.data.input_checks import numbers as numbers
from exactsindy.data.notice import Notice as Notice
from exactsindy.data.pod import Pod as Pod
from exactsindy.data.pod import pod as pod
from exactsindy.data.read import Data as Data
from exactsindy.data.read import DataLike as DataLike
from exactsindy.data.read import as_data as as_data
from exactsindy.data.read import load as load
from exactsindy.data.read import read_data as read_data
from exactsindy.data.read import save_data as save_data
from exactsindy.data.splitting import cuts as cuts
from exactsindy.data.splitting import gap_starts as gap_starts
from exactsindy.data.trajectory import Trajectories as Trajectories
from exactsindy.data.trajectory import Trajectory as Trajectory
