"""The statements that both databases run, with ``?`` for a value."""

PAGE = 512
"""Rows fetched at a time. A page is fetched whole: no reader keeps a transaction open."""

# The columns stand in the order of the fields of Record.
OF_EPISODE = """
SELECT episode, version, generation, time, kind, payload, previous, hash, position, link
FROM event WHERE episode = ? AND version > ? ORDER BY version LIMIT ?
"""
FROM_POSITION = """
SELECT episode, version, generation, time, kind, payload, previous, hash, position, link
FROM event WHERE position > ? ORDER BY position LIMIT ?
"""
AT_POSITION = """
SELECT episode, version, generation, time, kind, payload, previous, hash, position, link
FROM event WHERE position = ?
"""
AT_VERSION = """
SELECT episode, version, generation, time, kind, payload, previous, hash, position, link
FROM event WHERE episode = ? AND version = ?
"""
HEAD_OF_EPISODE = """
SELECT episode, version, generation, time, kind, payload, previous, hash, position, link
FROM event WHERE episode = ? ORDER BY version DESC LIMIT 1
"""
CHAIN_OF_EPISODE = """
SELECT episode, version, position, previous, hash
FROM event WHERE episode = ? AND version > ? ORDER BY version LIMIT ?
"""
STUBS = "SELECT position, hash FROM stub WHERE position > ? ORDER BY position LIMIT ?"
COUNT_STUBS = "SELECT COUNT(*) FROM stub WHERE position > ? AND position < ?"
NEXT_EPISODE = "SELECT MIN(episode) FROM event WHERE episode > ?"
NEXT_CHECKPOINT = "SELECT MIN(episode) FROM checkpoint WHERE episode > ?"
LAST_OF_KIND = "SELECT generation FROM event WHERE episode = ? AND kind = ? ORDER BY version DESC LIMIT 1"
HEAD = "SELECT position, link FROM event ORDER BY position DESC LIMIT 1"

# All that an append must know before it writes: the ledger's head, and the episode's.
TIP = """
SELECT g.position, g.link, t.version, t.hash
FROM (SELECT position, link FROM event ORDER BY position DESC LIMIT 1) g
LEFT JOIN (SELECT version, hash FROM event WHERE episode = ? ORDER BY version DESC LIMIT 1) t ON 1 = 1
"""
# No row comes of it unless the writer's generation is still the one of the record.
INSERT = """
INSERT INTO event (episode, version, generation, time, kind, payload, previous, hash, position, link)
SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM lease WHERE generation = ?
"""

LEASE = "SELECT name, pid, host, since, generation, released FROM lease"
TAKE_LEASE = """
INSERT INTO lease (id, generation, name, pid, host, since, released) VALUES (1, ?, ?, ?, ?, ?, 0)
"""
SAVE_CHECKPOINT = "INSERT INTO checkpoint (episode, version, hash, state, position) VALUES (?, ?, ?, ?, ?)"

ADD_ARCHIVE = "INSERT INTO archive (episode, version, hash, file, position) VALUES (?, ?, ?, ?, ?)"
ADD_STUBS = "INSERT INTO stub (position, hash) SELECT position, hash FROM event WHERE episode = ?"

CHECKPOINT = """
SELECT c.version, c.hash, c.state, v.kind, v.payload, v.episode
FROM checkpoint c LEFT JOIN event v ON v.position = c.position WHERE c.episode = ?
"""
ARCHIVES = """
SELECT a.episode, a.version, a.hash, a.file, v.kind, v.payload, v.episode
FROM archive a LEFT JOIN event v ON v.position = a.position ORDER BY a.episode
"""
