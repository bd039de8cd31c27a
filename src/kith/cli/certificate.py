from __future__ import annotations

from datetime import UTC, datetime

import click

from kith.base.acme.folder import Certificate, TlsFolder
from kith.base.settings import BadSettings, load
from kith.cli.running import as_json, say


@click.command()
@click.option("--renew", is_flag=True, help="Have the running server order a new certificate now.")
@as_json
def certificate(*, renew: bool, as_json: bool) -> None:
    """Show the certificate that the server got by itself (KITH_ACME), or renew it."""
    settings = load()
    if not settings.acme:
        raise BadSettings("KITH_ACME is off: this server has no certificate of its own")
    folder = TlsFolder(settings.data)
    if renew:
        folder.wish()
    found, last = folder.find_certificate(), folder.last_attempt
    if as_json:
        say({"certificate": found, "last_attempt": last, "renewing": folder.is_wished_for})
        return
    click.echo(_words(found) if found is not None else "There is no certificate yet.")
    if last.error:
        click.echo(f"The last attempt failed: {last.error}")
    if renew:
        click.echo("The running server orders a new one within seconds; its log tells how that goes.")


def _words(found: Certificate) -> str:
    days = (found.ends_at - datetime.now(UTC)).days
    return f"{', '.join(found.names)}: until {found.ends_at:%Y-%m-%d %H:%M} UTC ({days} days)"
