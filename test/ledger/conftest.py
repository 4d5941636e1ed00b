"""Both backends for every test that asks for ``backend``."""

from __future__ import annotations

import itertools

import pytest
from backends import PostgresBackend, SqliteBackend
from postgres_server import WHY_NOT, PostgresServer, find_programs

_number = itertools.count()


@pytest.fixture(scope="session")
def postgres_server():
    if find_programs() is None:
        pytest.skip(WHY_NOT)
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'psycopg[binary]'")
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def sqlite_backend(tmp_path):
    backend = SqliteBackend(tmp_path)
    yield backend
    backend.close()


@pytest.fixture
def postgres_backend(tmp_path, postgres_server):
    backend = PostgresBackend(tmp_path, postgres_server, f"ledger_{next(_number)}")
    yield backend
    backend.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def backend(request):
    return request.getfixturevalue(f"{request.param}_backend")
