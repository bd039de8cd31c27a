"""Translations: gettext catalogues (`kith/locale/<language>/LC_MESSAGES/<domain>.po`), read when first needed.

The English texts stand in the code and the templates. `scripts/messages` writes those that are new into the catalogues.
"""

from kith.base.catalogues.catalogue import DOMAINS, FOLDER, Catalogue, catalogue, counted
from kith.base.catalogues.finished_texts import FinishedTexts

__all__ = ["DOMAINS", "FOLDER", "Catalogue", "FinishedTexts", "catalogue", "counted"]
