"""Files that nobody should have to read: builders used by the tests and the fuzzer."""

from __future__ import annotations

import io
import os
import struct
import zipfile
from contextlib import suppress

import numpy as np


def npy(shape, descr="<f8", data=b""):
    """Return an npy file whose header says what it likes."""
    header = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def packed(members, method=zipfile.ZIP_DEFLATED):
    """Return a zip file of named contents."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_directory_byte(content, offset, change):
    """Return a zip file of one member with a byte of its directory entry (and the local copy) changed."""
    data, entry = bytearray(content), content.index(b"PK\x01\x02")
    data[entry + offset] = change(data[entry + offset])
    data[offset - 2] = change(data[offset - 2])
    return bytes(data)


SMALL = npy((3,), "<f8", np.arange(3.0).tobytes())

#: From a short name to the content of an npz file and what is said about it.
NPZ = {
    "nothing": (b"nothing", "not an npz file of plain arrays (File is not a zip file)"),
    "terabytes": (packed({"x.npy": npy((10**7, 10**6))}), "'x.npy' says it has 80 TB, and 0 bytes are there"),
    "no size": (packed({"x.npy": npy((10**13,), "|S0")}), "'x.npy' says it has 10 TB, and 0 bytes are there"),
    "negative": (packed({"x.npy": npy((-1,), "<f8", bytes(24))}), "says it has -8 bytes, and 24 bytes are there"),
    "encrypted": (with_directory_byte(packed({"x.npy": SMALL}), 8, lambda b: b | 1), "(it is encrypted)"),
    "method": (with_directory_byte(packed({"x.npy": SMALL}), 10, lambda b: 97), "compression method 97 is not one"),
    "bzip2": (packed({"x.npy": SMALL}, zipfile.ZIP_BZIP2), "compression method 12 is not one that NumPy writes"),
    "text": (packed({"x.txt": b"abc"}), "it holds 'x.txt', which is no array"),
    "objects": (packed({"x.npy": npy((3,), "|O", b"abc")}), "holds Python objects, which are not read for safety"),
    "records": (packed({"x.npy": npy((3,), [("a", "<f8")], bytes(24))}), "'x.npy' holds records"),
    "header": (packed({"x.npy": npy("(" * 90 + "3" + ",)" * 90)}), "not an npz file of plain arrays (shape is not"),
    "magic": (packed({"x.npy": b"\x93NUMPX"}), "not an npz file of plain arrays"),
    "empty": (packed({"x.npy": b""}), "not an npz file of plain arrays"),
    "bomb": (packed({"x.npy": npy((2**26,), "<f8", bytes(2**29))}), "unpack to 537 MB, more than 200 times as much"),
}


#: A table as JSON.
RECORDS = b'[{"t": 0, "x": 1.5}, {"t": 0.1, "x": 1.25}, {"t": 0.2, "x": null}, {"t": 0.3, "x": 1}]'


def matlab():
    """Return a small MATLAB file of version 5."""
    from scipy.io import savemat

    buffer = io.BytesIO()
    savemat(buffer, {"t": np.arange(9.0), "x": np.arange(9.0) ** 2}, do_compression=True)
    return buffer.getvalue()


def open_document():
    """Return a small OpenDocument table."""
    rows = [("t", "x"), *((0.1 * i, 2.0 * i) for i in range(5))]
    number = '<table:table-cell office:value-type="float" office:value="{0}"><text:p>{0}</text:p></table:table-cell>'
    word = '<table:table-cell office:value-type="string"><text:p>{0}</text:p></table:table-cell>'
    cells = (
        "<table:table-row>"
        + "".join((word if isinstance(c, str) else number).format(c) for c in row)
        + "</table:table-row>"
        for row in rows
    )
    spaces = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    content = (
        f'<?xml version="1.0"?><office:document-content{spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="a">{"".join(cells)}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/></manifest:manifest>'
    )
    parts = {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest}
    return packed(parts, zipfile.ZIP_STORED)


def tables():
    """Return small files of other kinds by their ending, as far as the packages that write them are there."""
    found = {}
    with suppress(ImportError):
        import openpyxl

        book, buffer = openpyxl.Workbook(), io.BytesIO()
        for row in [("t", "x"), ("s", "m"), *((0.1 * i, 2.0 * i) for i in range(9))]:
            book.active.append(row)
        book.save(buffer)
        found["xlsx"] = buffer.getvalue()
        found["xlsm"] = found["xlsx"]
    found["ods"] = open_document()
    with suppress(ImportError):
        import pyarrow as pa
        from pyarrow import feather, parquet

        table = pa.table({"t": np.arange(9.0), "x": np.arange(9.0) ** 2})
        buffer = io.BytesIO()
        feather.write_feather(table, buffer)
        found["feather"] = buffer.getvalue()
        buffer = io.BytesIO()
        parquet.write_table(table, buffer)
        found["parquet"] = buffer.getvalue()
    with suppress(ImportError):
        import xarray as xr

        grid = xr.Dataset(
            {"u": (("x", "t"), np.outer(np.arange(5.0), np.arange(6.0)))}, {"x": np.arange(5.0), "t": np.arange(6.0)}
        )
        found["nc"] = bytes(grid.to_netcdf(engine="scipy"))
    with suppress(ImportError):
        import h5py

        buffer = io.BytesIO()
        with h5py.File(buffer, "w") as file:
            file["t"], file["x"] = np.arange(9.0), np.arange(9.0) ** 2
        found["h5"] = buffer.getvalue()
    return found


def pipe(path):
    """Make a pipe that nobody writes to."""
    os.mkfifo(path)
    return path
