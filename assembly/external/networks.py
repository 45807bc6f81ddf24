"""Which addresses may be connected to: public ones, and those in networks that the operator allows on purpose."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from django.conf import settings

Address = IPv4Address | IPv6Address

# The registries of special-purpose addresses (RFC 6890 and what came after it), written out because what `ipaddress`
# counts as global differs between versions of Python. Global by the registries, and here nevertheless, are
# relays and tunnels, which lead elsewhere than they say, and the address of the machine's own host at Azure.
NOT_PUBLIC = tuple(map(ip_network, (
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)))  # fmt: skip
GLOBAL_UNICAST = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")
IPV4_BITS = 0xFFFFFFFF


def parsed(text: str) -> Address:
    """The address that is meant: the IPv4 address itself where it is only wrapped in an IPv6 one (mapped, NAT64)."""
    address = ip_address(text)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    if isinstance(address, IPv6Address) and address in NAT64:
        return IPv4Address(int(address) & IPV4_BITS)
    return address


@dataclass(frozen=True, slots=True)
class AllowedNetworks:
    """Private networks that an operator opens for one purpose, by the setting of that name."""

    setting: str

    def __contains__(self, address: Address) -> bool:
        networks: list[IPv4Network | IPv6Network] = [ip_network(text) for text in getattr(settings, self.setting)]
        return any(address in network for network in networks)


# Admins of the organisation register sources, admins of a team webhooks: these inherit nothing from the former.
FOR_SOURCES = AllowedNetworks("EXTERNAL_ALLOWED_NETWORKS")
FOR_WEBHOOKS = AllowedNetworks("WEBHOOK_ALLOWED_NETWORKS")


def is_public(address: Address) -> bool:
    """Whether everybody can reach it: no private, local, shared, reserved, multicast or documentation address."""
    if isinstance(address, IPv6Address) and address not in GLOBAL_UNICAST:
        return False
    return address.is_global and not any(address in network for network in NOT_PUBLIC)
