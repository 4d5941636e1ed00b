from adf_ea_ros.testing.fixtures import domain, node_process, watcher

__all__ = ["domain", "node_process", "watcher"]
