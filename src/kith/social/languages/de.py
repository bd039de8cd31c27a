"""German: what the social API says when something cannot be done. A test holds it complete."""

from __future__ import annotations

WORDS = {
    # Whoever calls
    "This method requires an authenticated user": "Dafür musst du angemeldet sein",
    "The access token was revoked": "Der Zugang wurde widerrufen",
    "The access token is invalid": "Der Zugang ist ungültig",
    "The access token expired": "Der Zugang ist abgelaufen",
    "This action is outside the authorized scopes": "Das geht über die erteilten Berechtigungen hinaus",
    "Your login is missing a confirmed e-mail address": "Deine E-Mail-Adresse ist noch nicht bestätigt",
    "Your login is currently pending approval": "Dein Konto wartet noch auf Freigabe",
    "Your login is currently disabled": "Dein Konto ist derzeit gesperrt",
    "This method requires an client credentials authentication": "Dafür muss sich die App selbst ausweisen",
    "Authentication credentials were not provided.": "Dafür musst du angemeldet sein.",
    # The team
    "cannot be higher than your current role": "darf nicht über deiner eigenen Rolle stehen",
    "cannot include permissions your current role does not possess": (
        "dürfen keine Rechte enthalten, die deine eigene Rolle nicht hat"
    ),
    "cannot include permissions that are not safe for the base role": (
        "dürfen keine Rechte enthalten, die nicht alle haben sollen"
    ),
    "there is no role called {name}": "Eine Rolle namens {name} gibt es nicht",
    "has already been appealed": "wurde schon angefochten",
    "can no longer be sent: the time for it is over": "kann nicht mehr abgeschickt werden: die Zeit dafür ist vorbei",
    "would shut you out yourself": "würde dich selbst aussperren",
    "is too far from the start to count by day": "liegt zu weit vom Anfang weg, um nach Tagen zu zählen",
    "Invalid date supplied": "Das ist kein gültiges Datum",
    "must be blank": "muss leer bleiben",
    "does not reference valid rules": "nennt Regeln, die es nicht gibt",
    "is too long (maximum is {count} entries)": "ist zu lang (höchstens {count} Einträge)",
    # Encrypted messages
    "is not a valid Ed25519 or Curve25519 key": "ist kein gültiger Ed25519- oder Curve25519-Schlüssel",
    "is not a valid Ed25519 signature": "ist keine gültige Ed25519-Signatur",
    "are limited to {count} for a device": "sind auf {count} je Gerät begrenzt",
    "has too many messages that it has not fetched": "hat zu viele Nachrichten, die es noch nicht abgeholt hat",
    "param is missing or the value is empty: device": "Es fehlt eine Angabe: device",
    "No more than {count} can be named at once.": "Mehr als {count} auf einmal geht nicht.",
    # Everywhere
    "Validation failed": "Gültigkeitsprüfung fehlgeschlagen",
    "Something went wrong on our side": "Bei uns ist etwas schiefgegangen",
    "Internal Server Error": "Bei uns ist etwas schiefgegangen",
    "The request could not be read": "Die Anfrage war nicht lesbar",
    "This action is not allowed": "Diese Aktion ist nicht erlaubt",
    "Record not found": "Eintrag nicht gefunden",
    "Not Found": "Nicht gefunden",
    "Forbidden": "Nicht erlaubt",
    "This method is not allowed here": "Diese Methode ist hier nicht erlaubt",
    'Method "{method}" not allowed.': "Die Methode „{method}“ ist hier nicht erlaubt.",
    "Could not satisfy the request Accept header.": "In der verlangten Form gibt es das nicht.",
    "Somebody else changed this at the same time, please try again": (
        "Jemand anderes hat das gleichzeitig geändert, bitte versuche es noch einmal"
    ),
    "Gone": "Nicht mehr da",
    "Request body too large.": "Die Anfrage ist zu groß.",
    "Unsupported media type": "Dieser Medientyp wird nicht unterstützt",
    'Unsupported media type "{kind}" in request.': "Der Medientyp „{kind}“ wird nicht unterstützt.",
    "Too many requests": "Zu viele Anfragen",
    "There was a temporary problem serving your request, please try again": (
        "Die Anfrage ließ sich gerade nicht bearbeiten, bitte versuche es noch einmal"
    ),
    # What is wrong with a field
    "can't be blank": "muss ausgefüllt werden",
    "is invalid": "ist nicht gültig",
    "is invalid: {why}": "ist nicht gültig: {why}",
    "is reserved": "ist reserviert",
    "has already been taken": "ist bereits vergeben",
    "is not included in the list": "ist kein gültiger Wert",
    "must be accepted": "muss akzeptiert werden",
    "must be one of: {choices}": "muss eines davon sein: {choices}",
    "is too long (maximum is {count} bytes)": "ist zu lang (höchstens {count} Bytes)",
    "There are more than {count} values": "Es sind mehr als {count} Werte",
    "is too long (maximum is {count} characters)": "ist zu lang (höchstens {count} Zeichen)",
    "is too short (minimum is {count} characters)": "ist zu kurz (mindestens {count} Zeichen)",
    "has too few elements (minimum is {count})": "hat zu wenige Einträge (mindestens {count})",
    "has too many elements (maximum is {count})": "hat zu viele Einträge (höchstens {count})",
    "has too many entries (maximum is {count})": "hat zu viele Einträge (höchstens {count})",
    "has too many rows (maximum is {count})": "hat zu viele Zeilen (höchstens {count})",
    "must be greater than or equal to {count}": "muss mindestens {count} sein",
    "must be greater than {count}": "muss größer als {count} sein",
    "must be less than or equal to {count}": "darf höchstens {count} sein",
    "must be less than {count}": "muss kleiner als {count} sein",
    "must be a multiple of {count}": "muss ein Vielfaches von {count} sein",
    "must be smaller than {count} MB": "muss kleiner als {count} MB sein",
    "is not text": "ist kein Text",
    "is not valid Unicode text": "ist kein gültiger Unicode-Text",
    "contains a NUL character": "enthält ein NUL-Zeichen",
    "is not a whole number": "ist keine ganze Zahl",
    "is not a number": "ist keine Zahl",
    "is out of range": "liegt außerhalb des möglichen Bereichs",
    "is not true or false": "ist weder wahr noch falsch",
    "is not a valid date and time": "ist kein gültiger Zeitpunkt",
    "is not a valid date": "ist kein gültiges Datum",
    "is not a valid UUID": "ist keine gültige UUID",
    "is not a file": "ist keine Datei",
    "is not an object": "ist kein Objekt",
    "is not a valid domain name": "ist kein gültiger Domainname",
    "is not a language we know": "ist keine Sprache, die wir kennen",
    "must be two numbers between -1 and 1, such as 0.5,-0.2": (
        "müssen zwei Zahlen zwischen -1 und 1 sein, etwa 0.5,-0.2"
    ),
    # What could not be read
    "The parameter {name} is sent in two different shapes": "Der Parameter {name} kommt in zwei verschiedenen Formen",
    "There are more than {count} parameters": "Es sind mehr als {count} Parameter",
    "The parameters hold an incomplete percent-encoding": "Die Prozentkodierung der Parameter ist unvollständig",
    "The parameters hold a NUL character": "Die Parameter enthalten ein NUL-Zeichen",
    "The parameters are nested deeper than {count} levels": (
        "Die Parameter sind tiefer als {count} Ebenen verschachtelt"
    ),
    "The parameters are not valid UTF-8": "Die Parameter sind kein gültiges UTF-8",
    "A parameter's name is longer than {count} characters": (
        "Der Name eines Parameters ist länger als {count} Zeichen"
    ),
    "The multipart boundary is missing or too long": "Die Trennmarke der Teile fehlt oder ist zu lang",
    "The multipart body could not be read: {why}": "Die Teile der Anfrage waren nicht lesbar: {why}",
    "The body must be a JSON object": "Die Anfrage muss ein JSON-Objekt sein",
    "JSON parse error - the body is not valid UTF-8": "Das JSON war nicht lesbar: kein gültiges UTF-8",
    "JSON parse error - {why}": "Das JSON war nicht lesbar: {why}",
    "The Content-Length header is not a number": "Die angegebene Länge ist keine Zahl",
    "The body ended too early": "Die Anfrage endete zu früh",
    "The request did not arrive in time": "Die Anfrage kam nicht rechtzeitig an",
    # Signing up
    "must contain only letters, numbers and underscores": "darf nur Buchstaben, Ziffern und Unterstriche enthalten",
    "contains a disallowed e-mail provider": "gehört zu einem nicht erlaubten E-Mail-Anbieter",
    "does not seem to exist": "scheint es nicht zu geben",
    "is below the age limit of {years}": "liegt unter dem Mindestalter von {years} Jahren",
    "This method is only available to the application the user originally signed-up with": (
        "Das kann nur die App, mit der das Konto angelegt wurde"
    ),
    "This method is only available while the e-mail is awaiting confirmation": (
        "Das geht nur, solange die E-Mail-Adresse noch nicht bestätigt ist"
    ),
    "Ensure this field has no more than 150 characters.": "Es dürfen höchstens 150 Zeichen sein.",
    "Ensure this field has no more than 254 characters.": "Es dürfen höchstens 254 Zeichen sein.",
    # People
    "Following your own account is not allowed": "Du kannst dir nicht selbst folgen",
    "Blocking your own account is not allowed": "Du kannst dich nicht selbst blockieren",
    "Muting your own account is not allowed": "Du kannst dich nicht selbst stummschalten",
    "Validation failed: You must be already following the person you want to endorse": (
        "Gültigkeitsprüfung fehlgeschlagen: Du musst einer Person folgen, um sie zu empfehlen"
    ),
    "Validation failed: You cannot follow more than {count} people": (
        "Gültigkeitsprüfung fehlgeschlagen: Du kannst höchstens {count} Leuten folgen"
    ),
    "contains values without a label": "enthält Werte ohne Beschriftung",
    # Lists and tags
    "'{policy}' is not a valid replies_policy": "„{policy}“ ist kein gültiger Wert für replies_policy",
    "You have reached the maximum number of lists": "Du hast die größtmögliche Zahl von Listen erreicht",
    "must be a followed account": "muss jemand sein, dem du folgst",
    "is already on the list": "ist schon auf der Liste",
    "You have already featured the maximum number of hashtags": ("Du zeigst schon die größtmögliche Zahl von Hashtags"),
    # Posts
    "character limit of {count} exceeded": "hat mehr als die erlaubten {count} Zeichen",
    "contained a disallowed hashtag: {name}": "enthält einen nicht erlaubten Hashtag: {name}",
    "The post you are trying to reply to does not appear to exist.": (
        "Den Beitrag, auf den du antworten willst, scheint es nicht zu geben."
    ),
    "The post you are trying to quote does not appear to exist.": (
        "Den Beitrag, den du zitieren willst, scheint es nicht zu geben."
    ),
    "Cannot quote a non-mentioned user in a Private Mention post.": (
        "In einer privaten Nachricht lässt sich nur zitieren, wer darin erwähnt ist."
    ),
    "Post would be sent to unexpected accounts": "Der Beitrag ginge an Leute, mit denen du nicht rechnest",
    "No more than {count} posts can be asked for at once": "Höchstens {count} Beiträge auf einmal",
    "A boost cannot be pinned": "Was du teilst, lässt sich nicht anheften",
    "Someone else's post cannot be pinned": "Beiträge anderer lassen sich nicht anheften",
    "Posts that are only visible to mentioned users cannot be pinned": (
        "Private Nachrichten lassen sich nicht anheften"
    ),
    "Account has already been taken": "Der Beitrag ist schon angeheftet",
    "You have already pinned the maximum number of posts": "Mehr Beiträge kannst du nicht anheften",
    "date must be in the future": "muss in der Zukunft liegen",
    "You have exceeded the limit of {count} scheduled posts": "Es sind höchstens {count} geplante Beiträge möglich",
    "You have exceeded the limit of {count} scheduled posts for today": (
        "Es sind höchstens {count} geplante Beiträge an einem Tag möglich"
    ),
    # Polls
    "must have more than one item": "müssen mehr als eine sein",
    "can't contain more than {count} items": "dürfen höchstens {count} sein",
    "cannot be longer than {count} characters each": "dürfen je höchstens {count} Zeichen lang sein",
    "contain duplicate items": "enthalten etwas doppelt",
    "is too soon": "ist zu früh",
    "is too far into the future": "liegt zu weit in der Zukunft",
    "You cannot vote in your own polls": "In deinen eigenen Umfragen kannst du nicht abstimmen",
    "The poll has already ended": "Die Umfrage ist schon beendet",
    "The chosen vote option does not exist": "Diese Antwort gibt es in der Umfrage nicht",
    "You have already voted on this poll": "Du hast in dieser Umfrage schon abgestimmt",
    # Files
    "Media attachment is currently used by a status": "Die Datei gehört zu einem Beitrag",
    "Media {ids} not found or already attached to another post": (
        "Die Datei {ids} gibt es nicht, oder sie gehört schon zu einem anderen Beitrag"
    ),
    "Validation failed: File content type is invalid, File is invalid": (
        "Gültigkeitsprüfung fehlgeschlagen: Dateien dieser Art gehen hier nicht"
    ),
    "Error processing thumbnail for uploaded media": "Die Datei ließ sich nicht verarbeiten",
    "Cannot attach more than {count} files": "Mehr als {count} Dateien gehen nicht",
    "Cannot attach files that have not finished processing. Try again in a moment!": (
        "Die Dateien sind noch nicht fertig verarbeitet. Versuche es gleich noch einmal!"
    ),
    "Cannot attach a video to a post that already contains images": (
        "Ein Video passt nicht zu einem Beitrag, der schon Bilder hat"
    ),
    "content type is invalid": "hat keine erlaubte Art",
    "File type of uploaded media could not be verified": "Die Art der Datei ließ sich nicht feststellen",
    "The file takes too long to process": "Die Datei zu verarbeiten dauert zu lange",
    "There is no such part of this file": "Diesen Teil der Datei gibt es nicht",
    "{width}x{height} images are not supported": "Bilder mit {width}x{height} Punkten werden nicht unterstützt",
    "{kind} of more than {count} frames are not supported": (
        "{kind} mit mehr als {count} Bildern werden nicht unterstützt"
    ),
    "{width}x{height} {kind} are not supported": "{kind} mit {width}x{height} Punkten werden nicht unterstützt",
    "{rate}fps {kind} are not supported": "{kind} mit {rate} Bildern je Sekunde werden nicht unterstützt",
    # Search and translation
    "At least one keyword or phrase is required": "Gib mindestens ein Suchwort an",
    "Search queries pagination is not supported without authentication": (
        "Weiterblättern in Suchergebnissen geht nur angemeldet"
    ),
    "Search queries that resolve remote resources are not supported without authentication": (
        "Auf anderen Servern suchen geht nur angemeldet"
    ),
    "param is missing or the value is empty or invalid: {name}": "Der Parameter {name} fehlt oder ist leer",
    "Pagination values for `offset` and `limit` must be positive": "`offset` und `limit` dürfen nicht negativ sein",
    "This server has used up what its translation service grants it; please try again later": (
        "Das Kontingent dieses Servers für Übersetzungen ist aufgebraucht; bitte versuche es später noch einmal"
    ),
    "The translation service is asked too often at the moment; please try again in a while": (
        "Der Übersetzungsdienst wird gerade zu oft gefragt; bitte versuche es in einer Weile noch einmal"
    ),
    "Service Unavailable": "Derzeit nicht verfügbar",
}

FIELDS = {
    "account": "Konto",
    "agreement": "Zustimmung",
    "attribution_domains": "Domains",
    "avatar": "Profilbild",
    "avatar_description": "Beschreibung des Profilbilds",
    "choices": "Antworten",
    "comment": "Notiz",
    "date_of_birth": "Geburtsdatum",
    "deadline": "Ende",
    "description": "Beschreibung",
    "category": "Art",
    "color": "Farbe",
    "content": "Inhalt",
    "display_name": "Anzeigename",
    "domain": "Domain",
    "canonical_email_hash": "Prüfsumme der Adresse",
    "email": "E-Mail-Adresse",
    "events": "Ereignisse",
    "expires_in": "Dauer",
    "ip": "Netz",
    "fields": "Zeilen",
    "file": "Datei",
    "focus": "Bildmitte",
    "header": "Titelbild",
    "header_description": "Beschreibung des Titelbilds",
    "id": "Id",
    "language": "Sprache",
    "languages": "Sprachen",
    "locale": "Sprache",
    "name": "Name",
    "note": "Über mich",
    "password": "Passwort",
    "permissions": "Rechte",
    "permissions_as_keys": "Rechte",
    "position": "Rang",
    "privacy": "Sichtbarkeit",
    "quote_policy": "Wer zitieren darf",
    "reason": "Begründung",
    "priority": "Reihenfolge",
    "rule_ids": "Regeln",
    "scheduled_at": "Zeitpunkt",
    "status_ids": "Beiträge",
    "status": "Beitrag",
    "tag": "Hashtag",
    "text": "Text",
    "thumbnail": "Vorschaubild",
    "title": "Titel",
    "username": "Benutzername",
    "visibility": "Sichtbarkeit",
}
