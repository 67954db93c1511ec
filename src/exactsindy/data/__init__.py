"""What was measured: trajectories, fields, loading, checks, splitting, POD."""

from exactsindy.data.build_field import field as field
from exactsindy.data.door import as_data as as_data
from exactsindy.data.door import trajectories as trajectories
from exactsindy.data.field import Field as Field
from exactsindy.data.files import load as load
from exactsindy.data.notice import Notice as Notice
from exactsindy.data.pod import Pod as Pod
from exactsindy.data.pod import pod as pod
from exactsindy.data.target import Target as Target
from exactsindy.data.trajectory import Trajectories as Trajectories
from exactsindy.data.trajectory import Trajectory as Trajectory
