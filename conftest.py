"""Root conftest: the plugin that runs pytest inside tests."""

pytest_plugins = ["pytester"]
