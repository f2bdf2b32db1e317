from tests.machines.conftest import machines_root

__all__ = ["machines_root"]
