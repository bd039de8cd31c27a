"""The team's own words in mails.

Whoever may write them shall not lead readers of a mail with a key elsewhere: there they name no page, unless the
operator has set them where the server is started.
"""

from __future__ import annotations

import re
from html import escape

import msgspec

from kith.base.mail import Mail
from kith.base.work import Work

__all__ = ["footer_of", "names_page", "with_footer"]

# What programs make a link of: an address with its scheme, or the name of a host as people write it.
_PAGE = re.compile(r"://|www\.|[a-z0-9-]\.[a-z]{2,24}/", re.IGNORECASE)


def names_page(words: str) -> bool:
    return _PAGE.search(words) is not None


def footer_of(work: Work, mail: Mail) -> str:
    """What stands at the end of this mail."""
    footer = work.settings.mail_footer
    if not mail.holds_key or "mail_footer" in work.operator_settings.given:
        return footer
    return "\n".join(line for line in footer.splitlines() if not names_page(line))


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
