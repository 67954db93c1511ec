"""Data that are read piece by piece: Parquet data sets, chunked arrays, streams; and sums over pieces."""

from exactsindy.chunked.assembling import Assembly as Assembly
from exactsindy.chunked.assembling import assemble as assemble
from exactsindy.chunked.assembling import reading as reading
from exactsindy.chunked.fields import field_pieces as field_pieces
from exactsindy.chunked.parquet import scan_parquet as scan_parquet
from exactsindy.chunked.pieces import Piece as Piece
from exactsindy.chunked.pieces import Pieces as Pieces
from exactsindy.chunked.pieces import Unread as Unread
from exactsindy.chunked.plans import EachApart as EachApart
from exactsindy.chunked.plans import Plan as Plan
from exactsindy.chunked.plans import Together as Together
from exactsindy.chunked.sources import Source as Source
from exactsindy.chunked.sources import pieces_of as pieces_of
from exactsindy.chunked.stores import opened as opened
from exactsindy.chunked.trees import joined as joined
from exactsindy.chunked.trees import required as required
from exactsindy.chunked.trees import tree_sum as tree_sum
