"""The RADIUS server: Wi-Fi, VPNs and other network devices ask here whether a password is right."""
