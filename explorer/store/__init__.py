"""Requests, results and answers, stored within quotas.

Rows are in a database (`sql`), texts are blobs in a folder (`files`) or in an S3 store (`s3`). No computation
happens here.
"""

from explorer.store.backup import Copied
from explorer.store.batches import BlobBatch
from explorer.store.blob_store import BlobStore
from explorer.store.collections import Collection, CollectionKind
from explorer.store.entries import BinaryEntry, Entry, MeasurementEntry, PassEntry, Result, StageEntry
from explorer.store.job_table import NewJob, TakenJob
from explorer.store.location import location_of
from explorer.store.opening import open_store, restore_store
from explorer.store.processes import Process
from explorer.store.pruner import Pruner
from explorer.store.record import Record, Status, compilation_of, is_over
from explorer.store.retention import Damage, Pruned, Quotas, StoreHealth
from explorer.store.sql import FAILURE_SECONDS, Store
from explorer.store.statistics import Group, Statistics

__all__ = [
    "FAILURE_SECONDS",
    "BinaryEntry",
    "BlobBatch",
    "BlobStore",
    "Collection",
    "CollectionKind",
    "Copied",
    "Damage",
    "Entry",
    "Group",
    "MeasurementEntry",
    "NewJob",
    "PassEntry",
    "Process",
    "Pruned",
    "Pruner",
    "Quotas",
    "Record",
    "Result",
    "StageEntry",
    "Statistics",
    "Status",
    "Store",
    "StoreHealth",
    "TakenJob",
    "compilation_of",
    "is_over",
    "location_of",
    "open_store",
    "restore_store",
]
