"""The practice node of the tests as a node of the desk."""

from workers import services
from workers.nodes import ssh


def enrolled(operator, server, name="practice-1"):
    """A running practice node as a node of the desk."""
    found = services.enrol_node(
        actor=operator, name=name, host=server.host, port=server.port,
        username=server.username, private_key=server.private_key_text, is_practice=True,
        command_roles=["consultant"])
    return services.confirm_host_key(
        actor=operator, node=found, fingerprint=ssh.fingerprint(found.offered_host_key))
