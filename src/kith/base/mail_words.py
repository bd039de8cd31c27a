"""The team's own words in mails."""

from __future__ import annotations

from html import escape

import msgspec

from kith.base.mail import Mail

__all__ = ["with_footer"]


def with_footer(mail: Mail, footer: str) -> Mail:
    """What stands at the end of every mail, in both of its forms."""
    footer = footer.strip()
    if not footer:
        return mail
    html = mail.html
    if html is not None:
        shown = "<br>".join(escape(line) for line in footer.splitlines())
        html = html.replace("</body>", f"<hr><p>{shown}</p></body>", 1)
    return msgspec.structs.replace(mail, text=f"{mail.text.rstrip()}\n\n-- \n{footer}\n", html=html)
