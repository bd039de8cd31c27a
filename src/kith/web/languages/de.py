"""German: what stands in our pages, and below what other rooms say and our pages show."""

from __future__ import annotations

WORDS = {
    # On every page
    "Skip to the content": "Zum Inhalt springen",
    "You are somebody else": "Du bist jemand anderes",
    "You see this as {name}. You are {owner}.": "Du siehst dies als {name}. Du bist {owner}.",
    "End": "Beenden",
    "Your account": "Dein Konto",
    "Settings": "Einstellungen",
    "Sign out": "Abmelden",
    "Sign in": "Anmelden",
    "Sign up": "Registrieren",
    "Language": "Sprache",
    "Change language": "Sprache ändern",
    "Back to the start": "Zur Startseite",
    "Error:": "Fehler:",
    "Continue": "Weiter",
    "Cancel": "Abbrechen",
    "optional": "freiwillig",
    "Show password": "Passwort zeigen",
    "Hide password": "Passwort verbergen",
    "Please look at what is marked below.": "Bitte sieh dir an, was unten markiert ist.",
    "Please look at the fields marked below.": "Bitte sieh dir die unten markierten Felder an.",
    "Code {code} — tell it to whoever runs this place.": "Code {code} – nenne ihn denen, die diesen Server betreiben.",
    "If you tell us about it, please quote this:": "Wenn du uns davon berichtest, nenne bitte dies:",
    # Errors
    "That did not work": "Das hat nicht geklappt",
    "Please sign in": "Bitte melde dich an",
    "Not allowed": "Nicht erlaubt",
    "Nothing here": "Hier ist nichts",
    "Gone": "Nicht mehr da",
    "Too large": "Zu groß",
    "Too many requests": "Zu viele Anfragen",
    "Something went wrong on our side": "Bei uns ist etwas schiefgegangen",
    "Back in a moment": "Gleich wieder da",
    # Start
    "Start": "Start",
    "Hello, {name}": "Hallo, {name}",
    "You are signed in as {name}.": "Du bist angemeldet als {name}.",
    "Your applications": "Deine Anwendungen",
    "There is nothing here for you to open yet. What the people who run this server let you use will show up here.": (
        "Hier gibt es für dich noch nichts zu öffnen. "
        "Was die Betreiber dieses Servers für dich freigeben, erscheint hier."
    ),
    "(opens in a new tab)": "(öffnet sich in einem neuen Tab)",
    "Welcome": "Willkommen",
    "One member so far.": "Bisher ein Mitglied.",
    "{count} members so far.": "Bisher {count} Mitglieder.",
    # What the operator has written
    "About": "Über uns",
    "Privacy policy": "Datenschutzerklärung",
    "Terms of service": "Nutzungsbedingungen",
    "Nothing has been written here yet.": "Hier steht noch nichts.",
    "Rules": "Regeln",
    "Contact": "Kontakt",
    # Setting up the server
    "Set up": "Einrichten",
    "Welcome to {name}": "Willkommen bei {name}",
    "Make the first account. It owns this server and can do everything here; this link works once.": (
        "Lege das erste Konto an. Ihm gehört dieser Server, und es darf hier alles; dieser Link funktioniert einmal."
    ),
    "Letters, numbers, and @ . + - _": "Buchstaben, Ziffern und @ . + - _",
    "Your name": "Dein Name",
    "Shown to others; may be left empty": "Für andere sichtbar; darf leer bleiben",
    "At least 8 characters": "Mindestens 8 Zeichen",
    "Password, again": "Passwort, noch einmal",
    "Make the owner account": "Konto anlegen",
    "All set": "Alles bereit",
    "All set, {name}": "Alles bereit, {name}",
    "This server is yours now. The set-up link is closed for good.": (
        "Dieser Server gehört jetzt dir. Der Link zum Einrichten ist endgültig geschlossen."
    ),
    # Confirming an address
    "Confirm your address": "Bestätige deine Adresse",
    "{address} is confirmed as the address of {name}.": "{address} ist als Adresse von {name} bestätigt.",
    "Your account is waiting for approval. You will get a mail.": (
        "Dein Konto wartet auf Freigabe. Du bekommst eine E-Mail."
    ),
    "Is {address} the address of {name}, and is that you?": "Ist {address} die Adresse von {name}, und bist du das?",
    "Confirm my address": "Meine Adresse bestätigen",
    # Flows
    "Start over": "Von vorn beginnen",
    "Try again": "Noch einmal versuchen",
    "You are taken to where you wanted to go.": "Du wirst dorthin gebracht, wohin du wolltest.",
    "As {name}.": "Als {name}.",
    "Not you?": "Nicht du?",
    "User name": "Benutzername",
    "User name or e-mail address": "Benutzername oder E-Mail-Adresse",
    "E-mail address": "E-Mail-Adresse",
    "Password": "Passwort",
    "I forgot my password": "Ich habe mein Passwort vergessen",
    "I cannot sign in": "Ich kann mich nicht anmelden",
    "Make an account": "Konto anlegen",
    "Other ways to sign in": "Andere Wege, dich anzumelden",
    "Continue with {name}": "Weiter mit {name}",
    "Keep me signed in": "Angemeldet bleiben",
    "Only on a device that is yours.": "Nur auf einem Gerät, das dir gehört.",
    "Do you want to sign out of this browser?": "Möchtest du dich in diesem Browser abmelden?",
    (
        "Before you go on your browser must show that it is not a program, and that needs JavaScript. "
        "Please turn it on and load this page again."
    ): (
        "Bevor es weitergeht, muss dein Browser zeigen, dass er kein Programm ist, und das braucht JavaScript. "
        "Bitte schalte es ein und lade die Seite neu."
    ),
    "Remember my name on this device": "Meinen Namen auf diesem Gerät merken",
    "Sign in to go on to {name}.": "Melde dich an, um zu {name} zu kommen.",
    "Sign in without a password": "Ohne Passwort anmelden",
    "No, stay signed in": "Nein, angemeldet bleiben",
    "Choose one": "Bitte wählen",
    "We have sent you a mail. Open the link in it to go on; it may take a minute to arrive.": (
        "Wir haben dir eine E-Mail geschickt. Öffne den Link darin, um weiterzumachen; "
        "es kann eine Minute dauern, bis sie ankommt."
    ),
    "Send it again": "Noch einmal senden",
    "This deletes the account {name} for good. There is no way back.": (
        "Damit wird das Konto {name} endgültig gelöscht. Es gibt keinen Weg zurück."
    ),
    "Delete my account": "Mein Konto löschen",
    "Before you go on we would like to know that you are not a program.": (
        "Bevor es weitergeht, möchten wir wissen, dass du kein Programm bist."
    ),
    "Your browser is working on it. This page goes on by itself.": (
        "Dein Browser arbeitet daran. Diese Seite geht von selbst weiter."
    ),
    (
        "This check runs in your browser and needs JavaScript. Please turn it on and load this page again, "
        "or ask the people who run this server for another way in."
    ): (
        "Diese Prüfung läuft in deinem Browser und braucht JavaScript. Bitte schalte es ein und lade die Seite neu, "
        "oder frage die Betreiber dieses Servers nach einem anderen Weg."
    ),
    (
        "This check needs a service elsewhere, and these pages load nothing from elsewhere. "
        "Please use an app, or ask the people who run this server for another way in."
    ): (
        "Diese Prüfung braucht einen fremden Dienst, und diese Seiten laden nichts von anderswo. "
        "Bitte nimm eine App, oder frage die Betreiber dieses Servers nach einem anderen Weg."
    ),
    "It asks for:": "Sie möchte:",
    "New since you last agreed:": "Neu, seit du zuletzt zugestimmt hast:",
    "Allow": "Erlauben",
    # Factors in flows
    "Use a passkey": "Passkey verwenden",
    "Make a passkey": "Passkey anlegen",
    "A name for this passkey": "Ein Name für diesen Passkey",
    "A passkey lets you sign in with your device: a fingerprint, your face, a PIN or a security key.": (
        "Mit einem Passkey meldest du dich mit deinem Gerät an: per Fingerabdruck, Gesicht, PIN oder "
        "Sicherheitsschlüssel."
    ),
    "Passkeys need JavaScript. Please turn it on and load this page again.": (
        "Passkeys brauchen JavaScript. Bitte schalte es ein und lade die Seite neu."
    ),
    "Your device did not confirm it. Please try again, or choose another way.": (
        "Dein Gerät hat es nicht bestätigt. Bitte versuche es noch einmal oder nimm einen anderen Weg."
    ),
    "Keep these recovery codes in a safe place. Each one works once, when you have nothing else at hand.": (
        "Bewahre diese Wiederherstellungscodes sicher auf. Jeder gilt einmal, wenn du nichts anderes zur Hand hast."
    ),
    "I have kept them": "Ich habe sie aufbewahrt",
    "Scan this with an app that makes one-time codes, then type the code it shows.": (
        "Scanne dies mit einer App für Einmalcodes und gib dann den Code ein, den sie zeigt."
    ),
    "QR code; the same key stands below as text": "QR-Code; derselbe Schlüssel steht darunter als Text",
    "I cannot scan it": "Ich kann ihn nicht scannen",
    "Type this key into the app:": "Gib diesen Schlüssel in die App ein:",
    "Code": "Code",
    "A name for this device": "Ein Name für dieses Gerät",
    "From your app, or one of your recovery codes.": "Aus deiner App, oder einer deiner Wiederherstellungscodes.",
    "Choose a second factor to set up": "Wähle einen zweiten Faktor, den du einrichten willst",
    # Security: password and factors
    "Security": "Sicherheit",
    "You can look at everything here, but change nothing while you are somebody else.": (
        "Du kannst hier alles ansehen, aber nichts ändern, solange du jemand anderes bist."
    ),
    "Last changed": "Zuletzt geändert",
    "You have no password.": "Du hast kein Passwort.",
    "A new password ends all other sessions.": "Ein neues Passwort beendet alle anderen Sitzungen.",
    "Change password": "Passwort ändern",
    "Choose a password": "Passwort wählen",
    "Factors": "Faktoren",
    "What you have beside your password. Whoever knows the password alone does not get in.": (
        "Was du neben dem Passwort hast. Wer nur das Passwort kennt, kommt nicht hinein."
    ),
    "authenticator app": "Authenticator-App",
    "recovery codes": "Wiederherstellungscodes",
    "passkey": "Passkey",
    "added": "hinzugefügt",
    "last used": "zuletzt benutzt",
    "never used": "nie benutzt",
    "One code left": "Noch ein Code",
    "{count} codes left": "Noch {count} Codes",
    "Rename": "Umbenennen",
    "New name": "Neuer Name",
    "Remove": "Entfernen",
    "You have none yet.": "Du hast noch keine.",
    "Add an authenticator app": "Authenticator-App hinzufügen",
    "Add a passkey": "Passkey hinzufügen",
    "Make recovery codes": "Wiederherstellungscodes anlegen",
    "Make new recovery codes": "Neue Wiederherstellungscodes anlegen",
    "Make a key": "Schlüssel erstellen",
    "Make it": "Erstellen",
    "To make a key for a program, please show that it is you.": (
        "Um einen Schlüssel für ein Programm zu erstellen, zeige bitte, dass du es bist."
    ),
    (
        "To make a key for a program, please sign out and in again first: "
        "it is some time since you have shown that it is you."
    ): (
        "Um einen Schlüssel für ein Programm zu erstellen, melde dich bitte erst ab und wieder an: "
        "Es ist eine Weile her, dass du gezeigt hast, dass du es bist."
    ),
    "Remove a factor": "Faktor entfernen",
    "To remove {name}, please show that it is you.": "Um {name} zu entfernen, zeige bitte, dass du es bist.",
    ("To remove {name}, please sign out and in again first: it is some time since you have shown that it is you."): (
        "Um {name} zu entfernen, melde dich bitte erst ab und wieder an: "
        "Es ist eine Weile her, dass du gezeigt hast, dass du es bist."
    ),
    "Give it a name.": "Gib ihm einen Namen.",
    "This is too long.": "Das ist zu lang.",
    "Invalid password": "Falsches Passwort",
    # Security: sessions
    "Sessions": "Sitzungen",
    "this one": "diese hier",
    "you, as {name}": "du, als {name}",
    "{name}, as you": "{name}, als du",
    "signed in": "angemeldet",
    "End all others": "Alle anderen beenden",
    "End all, this one too": "Alle beenden, auch diese",
    "{program} on {system}": "{program} unter {system}",
    "An unknown program": "Ein unbekanntes Programm",
    # Security: keys
    "App passwords and tokens": "App-Passwörter und Tokens",
    "For programs that sign in with your name. Each can be taken back alone.": (
        "Für Programme, die sich mit deinem Namen anmelden. Jedes lässt sich einzeln widerrufen."
    ),
    "This is your new app password. Copy it now, it is not shown again:": (
        "Das ist dein neues App-Passwort. Kopiere es jetzt, es wird nicht noch einmal gezeigt:"
    ),
    "This is your new token. Copy it now, it is not shown again:": (
        "Das ist dein neues Token. Kopiere es jetzt, es wird nicht noch einmal gezeigt:"
    ),
    "app password": "App-Passwort",
    "token": "Token",
    "may do:": "darf:",
    "made": "angelegt",
    "ends": "endet",
    "Revoke": "Widerrufen",
    "You have none.": "Du hast keine.",
    "What is a new app password for?": "Wofür ist ein neues App-Passwort?",
    "Last day": "Letzter Tag",
    "Make app password": "App-Passwort anlegen",
    "Make a token": "Ein Token anlegen",
    "What is a new token for?": "Wofür ist ein neues Token?",
    "What it may do": "Was es darf",
    "Names of scopes with spaces between them; api opens the identity API.": (
        "Namen von Berechtigungen, durch Leerzeichen getrennt; api öffnet die Identitäts-API."
    ),
    "Make token": "Token anlegen",
    "Say what it is for.": "Sag, wofür es ist.",
    "Say what it may do.": "Sag, was es darf.",
    "Choose a day that is still to come.": "Wähle einen Tag, der noch kommt.",
    # Security: consent, trail, leaving
    "What you have allowed": "Was du erlaubt hast",
    "allowed": "erlaubt",
    "Withdraw": "Zurücknehmen",
    "You have not allowed any application to know things about you.": (
        "Du hast keiner Anwendung erlaubt, etwas über dich zu erfahren."
    ),
    "What happened lately": "Was zuletzt geschah",
    "Nothing yet.": "Noch nichts.",
    "Pages of your trail": "Seiten deines Protokolls",
    "Newer": "Neuere",
    "Older": "Ältere",
    "Signed in": "Angemeldet",
    "A sign-in failed": "Eine Anmeldung schlug fehl",
    "Signed out, or a session was ended": "Abgemeldet, oder eine Sitzung wurde beendet",
    "Password changed": "Passwort geändert",
    "Account details written": "Angaben zum Konto geschrieben",
    "A step was refused": "Ein Schritt wurde abgelehnt",
    "Something was made": "Etwas wurde angelegt",
    "Something was changed": "Etwas wurde geändert",
    "Something was deleted": "Etwas wurde gelöscht",
    "An application was let in": "Eine Anwendung wurde zugelassen",
    "A policy could not decide": "Eine Richtlinie konnte nicht entscheiden",
    "Something was not allowed": "Etwas wurde nicht erlaubt",
    "Somebody began to see this server as you": "Jemand begann, diesen Server als du zu sehen",
    "Somebody stopped seeing this server as you": "Jemand hörte auf, diesen Server als du zu sehen",
    "by {name}": "von {name}",
    "while you were {name}": "während du {name} warst",
    "You are asked once more before anything is deleted.": ("Du wirst noch einmal gefragt, bevor etwas gelöscht wird."),
    # Seeing it as somebody else
    "See it as somebody else": "Als jemand anderes ansehen",
    "Owners can see this server as one of its members does. They can read about it in their own trail.": (
        "Eigentümer können diesen Server so sehen, wie ein Mitglied ihn sieht. "
        "Das Mitglied kann es im eigenen Protokoll nachlesen."
    ),
    (
        "You see every page as they do until you end it. They can read in their trail that you did, and why. "
        "You cannot change their password, factors or keys."
    ): (
        "Du siehst jede Seite so wie diese Person, bis du es beendest. Sie kann in ihrem Protokoll lesen, "
        "dass und warum du es getan hast. Ihr Passwort, ihre Faktoren und Schlüssel kannst du nicht ändern."
    ),
    "Reason": "Grund",
    "Kept in the audit trail, for them to read": "Steht im Protokoll, wo sie ihn lesen kann",
    "See it as them": "Als diese Person ansehen",
    # Staff
    "Staff": "Team",
    "Refusals": "Ablehnungen",
    "Flows": "Abläufe",
    "Policies": "Richtlinien",
    "The identity API": "Die Identitäts-API",
    "Why somebody was told no, by the code they were shown.": (
        "Warum jemand abgelehnt wurde, nach dem Code, der dabei gezeigt wurde."
    ),
    "How a flow would go for somebody, with nothing coming of it.": (
        "Wie ein Ablauf für jemanden verliefe, ohne dass etwas daraus folgt."
    ),
    "What a policy says of somebody.": "Was eine Richtlinie über jemanden sagt.",
    "Everything else is set up by it.": "Alles Übrige wird mit ihr eingerichtet.",
    "Flow {name}": "Ablauf {name}",
    "Policy {name}": "Richtlinie {name}",
    "Refusal {code}": "Ablehnung {code}",
    "See how it would go for somebody. Nothing is written, sent or changed.": (
        "Sieh, wie er für jemanden verliefe. Nichts wird geschrieben, gesendet oder geändert."
    ),
    "See what it says of somebody. Nothing is written, sent or changed.": (
        "Sieh, was sie über jemanden sagt. Nichts wird geschrieben, gesendet oder geändert."
    ),
    "For {name}": "Für {name}",
    "somebody who is not signed in": "jemand, der nicht angemeldet ist",
    "somebody who was not signed in": "jemand, der nicht angemeldet war",
    "not signed in": "nicht angemeldet",
    "They may walk through this flow.": "Dieser Ablauf steht ihnen offen.",
    "They may not walk through this flow.": "Dieser Ablauf steht ihnen nicht offen.",
    "The flow's own policies": "Die Richtlinien des Ablaufs selbst",
    "Stages": "Stufen",
    "This flow has no stages: whoever enters has already passed.": (
        "Dieser Ablauf hat keine Stufen: Wer eintritt, ist schon durch."
    ),
    "planned": "vorgesehen",
    "left out": "ausgelassen",
    "There are no flows. `kith flows restore` brings the shipped ones back.": (
        "Es gibt keine Abläufe. `kith flows restore` bringt die mitgelieferten zurück."
    ),
    "There are no policies yet. They are made by the identity API.": (
        "Es gibt noch keine Richtlinien. Sie werden mit der Identitäts-API angelegt."
    ),
    "yes": "ja",
    "no": "nein",
    "turned round": "umgekehrt",
    "It could not decide:": "Sie konnte nicht entscheiden:",
    "Told the person:": "Der Person gesagt:",
    "Log:": "Log:",
    "Pages": "Seiten",
    "Back": "Zurück",
    "Page {number}": "Seite {number}",
    "More": "Mehr",
    "Empty: somebody who is not signed in.": "Leer: jemand, der nicht angemeldet ist.",
    "What is known beforehand": "Was vorher bekannt ist",
    "A JSON object, such as": "Ein JSON-Objekt, etwa",
    "Try it": "Ausprobieren",
    "It says": "Sie sagt",
    "Yes, they pass.": "Ja, sie kommen durch.",
    "No, they do not pass.": "Nein, sie kommen nicht durch.",
    "When": "Wann",
    "Who": "Wer",
    "From": "Von",
    "Where": "Wo",
    "Flow": "Ablauf",
    "Application": "Anwendung",
    "Stage": "Stufe",
    "After": "Nach",
    "They read": "Zu lesen war",
    "Why": "Warum",
    "Request": "Anfrage",
    "Forgotten on": "Vergessen am",
    "What was asked": "Was gefragt wurde",
    "What was known": "Was bekannt war",
    "Where it broke": "Wo es brach",
    "There is no refusal with this code, or it is so old that it was forgotten.": (
        "Es gibt keine Ablehnung mit diesem Code, oder sie ist so alt, dass sie vergessen wurde."
    ),
    "Find": "Suchen",
    "Nobody was refused anything.": "Niemandem wurde etwas verweigert.",
    "Sign-ups": "Registrierungen",
    "New accounts need no approval at the moment. Whoever signed up while they did waits here.": (
        "Neue Konten brauchen zurzeit keine Freigabe. Wer sich registriert hat, als es so war, wartet hier."
    ),
    "Who asks for an account and waits for a yes or a no.": "Wer ein Konto möchte und auf ein Ja oder Nein wartet.",
    "Nobody is waiting.": "Niemand wartet.",
    "no address": "keine Adresse",
    "confirmed": "bestätigt",
    "not confirmed yet": "noch nicht bestätigt",
    "They gave no reason.": "Ohne Angabe von Gründen.",
    "Approve {name}": "{name} freigeben",
    "Approve": "Freigeben",
    "Reject {name} and delete the account": "{name} ablehnen und das Konto löschen",
    "Reject": "Ablehnen",
    "There are more; they show once these are decided.": (
        "Es gibt mehr; sie erscheinen, sobald über diese entschieden ist."
    ),
    # Applications that are let in
    "An application was not let in": "Eine Anwendung wurde nicht zugelassen",
    "An application was shut out": "Einer Anwendung wurde der Zugang entzogen",
    "Authorized applications": "Zugelassene Anwendungen",
    "Back to security": "Zurück zur Sicherheit",
    "Connect a device": "Gerät verbinden",
    "Copy this code and paste it into the program that asked for it. It works once, and only for ten minutes.": (
        "Kopiere diesen Code in das Programm, das danach gefragt hat. Er gilt einmal und nur eine Minute lang."
    ),
    "Deny": "Ablehnen",
    "For whoever looks after the application:": "Für die Betreuer der Anwendung:",
    "It may then:": "Sie darf dann:",
    "It stands on the screen of your device.": "Er steht auf dem Bildschirm deines Geräts.",
    "It was asked for from the address {address}.": "Die Anfrage kam von der Adresse {address}.",
    "Its website:": "Ihre Website:",
    "Let {name} in?": "{name} zulassen?",
    "One moment": "Einen Moment",
    "Only go on if you hold the device in your own hands, and it shows this code:": (
        "Fahre nur fort, wenn du das Gerät selbst in der Hand hältst und es diesen Code zeigt:"
    ),
    "See which apps can use your account": "Ansehen, welche Apps dein Konto benutzen können",
    "Signing out of an application": "Abmelden von einer Anwendung",
    "The applications you used are being told.": "Die Anwendungen, die du benutzt hast, erfahren davon.",
    "These can use your account as {name}. Take back whatever you no longer use or do not know.": (
        "Diese können dein Konto {name} benutzen. Entziehe es allem, was du nicht mehr brauchst oder nicht kennst."
    ),
    "Use another account": "Anderes Konto benutzen",
    "You are signed out": "Du bist abgemeldet",
    "You are then taken to {place}.": "Danach geht es weiter zu {place}.",
    "You can take this back at any time:": "Du kannst das jederzeit zurücknehmen:",
    "You have let nothing in.": "Du hast nichts zugelassen.",
    "Your code": "Dein Code",
    "Your device is connected": "Dein Gerät ist verbunden",
    "since": "seit",
    "{name} asks to use your account. If you do not trust it, say no.": (
        "{name} möchte dein Konto benutzen. Wenn du dem nicht traust, lehne ab."
    ),
    "{name} goes on by itself in a moment. You can close this page.": (
        "{name} macht gleich von selbst weiter. Du kannst diese Seite schließen."
    ),
    "{name} was told no. You can close this page.": "{name} wurde abgewiesen. Du kannst diese Seite schließen.",
    "Nothing was allowed": "Es wurde nichts erlaubt",
}

SAID_ELSEWHERE = {
    # Flows that come with kith, and what they ask
    "Authorize application": "Anwendung zulassen",
    "Delete account": "Konto löschen",
    "Recover access": "Zugang wiederherstellen",
    "Set up a passkey": "Passkey einrichten",
    "Set up an authenticator app": "Authenticator-App einrichten",
    "Name": "Name",
    "Why do you want to join?": "Warum möchtest du dabei sein?",
    "The people who run this server read it before they decide.": (
        "Die Betreiber dieses Servers lesen es, bevor sie entscheiden."
    ),
    "The password must have at least 8 characters.": "Das Passwort muss mindestens 8 Zeichen haben.",
    # What stages say
    "Successfully logged in!": "Erfolgreich angemeldet!",
    "Email successfully sent.": "Die E-Mail wurde gesendet.",
    "Failed to authenticate.": "Die Anmeldung hat nicht geklappt.",
    "Signing in did not work.": "Die Anmeldung hat nicht geklappt.",
    "Nobody was named.": "Es wurde niemand genannt.",
    "No Pending User.": "Es wurde niemand genannt.",
    "No Pending data.": "Es gibt nichts zu schreiben.",
    "Too many wrong passwords.": "Zu oft ein falsches Passwort.",
    "Passwords don't match.": "Die Passwörter stimmen nicht überein.",
    "The two passwords are not the same.": "Die beiden Passwörter sind nicht gleich.",
    "Password has expired.": "Das Passwort ist abgelaufen.",
    "Your password has expired. Choose a new one to go on.": (
        "Dein Passwort ist abgelaufen. Wähle ein neues, um weiterzumachen."
    ),
    "Choose a password that is not the old one.": "Wähle ein Passwort, das nicht das alte ist.",
    "Username is already taken.": "Dieser Benutzername ist schon vergeben.",
    "A user name contains no @.": "Ein Benutzername enthält kein @.",
    "A user with that username already exists.": "Dieser Benutzername ist schon vergeben.",
    "Failed to update user. Please try again later.": (
        "Das Konto konnte nicht geändert werden. Bitte versuche es später noch einmal."
    ),
    "Invalid invite/invite not found": "Diese Einladung gilt nicht oder nicht mehr",
    "Sign-up is closed.": "Die Registrierung ist geschlossen.",
    "This account is disabled.": "Dieses Konto ist gesperrt.",
    "Your account is waiting for approval.": "Dein Konto wartet auf Freigabe.",
    "Thank you. Your account is waiting for approval; you will get a mail.": (
        "Danke. Dein Konto wartet auf Freigabe; du bekommst eine E-Mail."
    ),
    "Confirm your address first; we have sent the mail again.": (
        "Bestätige zuerst deine Adresse; wir haben die E-Mail noch einmal geschickt."
    ),
    "Confirm your address first; we have sent you a mail.": (
        "Bestätige zuerst deine Adresse; wir haben dir eine E-Mail geschickt."
    ),
    "Confirm your address first, with the link in the mail we have sent you.": (
        "Bestätige zuerst deine Adresse mit dem Link in der E-Mail, die wir dir geschickt haben."
    ),
    "Code does not match": "Der Code stimmt nicht",
    "Invalid Token. Please ensure the time on your device is accurate and try again.": (
        "Der Code stimmt nicht. Bitte prüfe, ob die Uhr deines Geräts richtig geht, und versuche es noch einmal."
    ),
    "Invalid device": "Dieses Gerät gilt hier nicht",
    "No (allowed) MFA authenticator configured.": "Es ist kein (erlaubter) zweiter Faktor eingerichtet.",
    "Choose one of these.": "Wähle eins davon.",
    "Registration failed. Please try again.": "Das Einrichten schlug fehl. Bitte versuche es noch einmal.",
    "Invalid captcha response": "Die Prüfung wurde nicht bestanden",
    "Failed to validate token": "Die Prüfung konnte nicht ausgewertet werden",
    "The last administrator cannot leave.": "Der letzte Administrator kann nicht gehen.",
    "This page was not the last one shown. Please answer again.": (
        "Diese Seite war nicht die zuletzt gezeigte. Bitte antworte noch einmal."
    ),
    "These answers were refused.": "Diese Antworten wurden abgelehnt.",
    "This flow is not for you at this moment.": "Dieser Ablauf ist im Moment nichts für dich.",
    "Only administrators may do this.": "Das dürfen nur Administratoren.",
    "Only outposts may do this.": "Das dürfen nur Außenposten.",
    "This can only be reached by a link from a mail.": "Hierher führt nur ein Link aus einer E-Mail.",
    "This can only be reached from another flow.": "Hierher führt nur ein anderer Ablauf.",
    "You may not do this.": "Das darfst du nicht.",
    "This flow does not come to an end.": "Dieser Ablauf kommt zu keinem Ende.",
    "This stage cannot be run.": "Diese Stufe lässt sich nicht ausführen.",
    "This link is for somebody else.": "Dieser Link ist für jemand anderen.",
    "This link is not valid any more.": "Dieser Link gilt nicht mehr.",
    "This link is not valid, or it was used already": "Dieser Link gilt nicht oder wurde schon benutzt",
    "This set-up link is not valid, or it was used already": (
        "Dieser Link zum Einrichten gilt nicht oder wurde schon benutzt"
    ),
    "Something went wrong on our side. Please try again.": (
        "Bei uns ist etwas schiefgegangen. Bitte versuche es noch einmal."
    ),
    # What is wrong with an answer
    "This field is required.": "Dieses Feld wird gebraucht.",
    "This field may not be blank.": "Dieses Feld darf nicht leer sein.",
    "This is too long, or has characters that cannot be kept.": (
        "Das ist zu lang oder enthält Zeichen, die sich nicht speichern lassen."
    ),
    "A valid number is required.": "Hier wird eine Zahl gebraucht.",
    "Enter a valid date.": "Gib ein gültiges Datum ein.",
    "Enter a valid date and time.": "Gib ein gültiges Datum mit Uhrzeit ein.",
    "Enter a valid file.": "Wähle eine gültige Datei.",
    "Enter a valid email address.": "Gib eine gültige E-Mail-Adresse ein.",
    "Ensure this field has no more than 150 characters.": "Hier dürfen höchstens 150 Zeichen stehen.",
    "Ensure this field has no more than 254 characters.": "Hier dürfen höchstens 254 Zeichen stehen.",
    # Settings
    "The session was ended.": "Die Sitzung wurde beendet.",
    "All other sessions were ended.": "Alle anderen Sitzungen wurden beendet.",
    "This session has already ended": "Diese Sitzung ist schon beendet",
    "The key was revoked.": "Der Schlüssel wurde widerrufen.",
    "This key was already revoked": "Dieser Schlüssel wurde schon widerrufen",
    "The factor was removed.": "Der Faktor wurde entfernt.",
    "This factor was already removed": "Dieser Faktor wurde schon entfernt",
    "This is your only way in. Choose a password or add another passkey first.": (
        "Das ist dein einziger Zugang. Wähle zuerst ein Passwort oder füge einen weiteren Passkey hinzu."
    ),
    "Your consent was withdrawn.": "Deine Zustimmung wurde zurückgenommen.",
    "This consent was already withdrawn": "Diese Zustimmung wurde schon zurückgenommen",
    "An administrator has set a new password for you.": (
        "Jemand aus der Verwaltung hat ein neues Passwort für dich gesetzt."
    ),
    "You are signed in. Choose a new password now.": "Du bist angemeldet. Wähle jetzt ein neues Passwort.",
    "We do not know this language": "Diese Sprache kennen wir nicht",
    # Seeing it as somebody else
    "Not while you are somebody else": "Nicht, solange du jemand anderes bist",
    "Only an owner may see this server as somebody else": (
        "Nur Eigentümer dürfen diesen Server als jemand anderes sehen"
    ),
    "Nobody may be somebody who can do as much as they can themselves": (
        "Niemand darf jemand sein, der ebenso viel darf wie man selbst"
    ),
    "Please give a reason.": "Bitte nenne einen Grund.",
    "There is nobody of this name.": "Es gibt niemanden mit diesem Namen.",
    "You are yourself already.": "Du bist schon du selbst.",
    # Problems
    "There is no way to do this here": "Dafür gibt es hier keinen Weg",
    "CSRF Failed: CSRF token missing or incorrect.": (
        "Dieses Formular gilt nicht mehr. Bitte lade die Seite neu und sende es noch einmal."
    ),
    "Validation failed": "Die Angaben waren nicht gültig",
    "The request could not be read": "Die Anfrage ließ sich nicht lesen",
    "This action is not allowed": "Das ist nicht erlaubt",
    "Record not found": "Das gibt es nicht",
    "Somebody else changed this at the same time, please try again": (
        "Jemand anderes hat das gleichzeitig geändert, bitte versuche es noch einmal"
    ),
    "Request body too large.": "Die Anfrage war zu groß.",
    "There was a temporary problem serving your request, please try again": (
        "Es gab eine vorübergehende Störung, bitte versuche es noch einmal"
    ),
    # Flows that are not for somebody, and what a rehearsal says of stages
    "This server cannot run this kind of stage: the walk would end here.": (
        "Dieser Server kennt diese Art von Stufe nicht: Hier wäre Schluss."
    ),
    "No policies are bound to it, so it is always taken.": (
        "Keine Richtlinie ist daran gebunden, sie kommt also immer dran."
    ),
    "Its policies let it in.": "Ihre Richtlinien lassen sie zu.",
    "Left out of the plan: its policies refused.": "Nicht eingeplant: Ihre Richtlinien haben abgelehnt.",
    "Its policies are never asked.": "Ihre Richtlinien werden nie gefragt.",
    "Its policies are asked when it comes up; with what is known now it would be taken.": (
        "Ihre Richtlinien werden gefragt, wenn sie an der Reihe ist; nach dem, was jetzt bekannt ist, käme sie dran."
    ),
    "Its policies are asked when it comes up; with what is known now it would be skipped.": (
        "Ihre Richtlinien werden gefragt, wenn sie an der Reihe ist; nach dem, was jetzt bekannt ist, fiele sie weg."
    ),
    # Applications that want to be let in, and what for
    "Addresses of this provider are not accepted here.": "Adressen dieses Anbieters werden hier nicht angenommen.",
    "This name is reserved.": "Dieser Name ist reserviert.",
    "Request error": "Fehler in der Anfrage",
    "Client ID Error": "Fehler in der Client-ID",
    "Redirect URI Error": "Fehler in der Redirect-URI",
    "This request is too long.": "Diese Anfrage ist zu lang.",
    "The application that sent you here is not known. Its client_id is wrong.": (
        "Die Anwendung, die dich hergeschickt hat, ist nicht bekannt. Ihre client_id stimmt nicht."
    ),
    "The application did not say where to send you back to (redirect_uri).": (
        "Die Anwendung hat nicht gesagt, wohin es zurückgehen soll (redirect_uri)."
    ),
    "The application wants to send you to a place it has not registered. You were not sent there.": (
        "Die Anwendung will dich an einen Ort schicken, den sie nicht angemeldet hat. Dorthin ging es nicht."
    ),
    "This request has expired or was answered already. Please go back to the application and start again.": (
        "Diese Anfrage ist abgelaufen oder schon beantwortet. Bitte geh zurück zur Anwendung und beginne neu."
    ),
    "There is no way to sign in here.": "Hier kann man sich nicht anmelden.",
    "You cannot sign in this way.": "Auf diesem Weg kannst du dich nicht anmelden.",
    "This application has no flow that leads into it.": "Zu dieser Anwendung führt kein Ablauf.",
    "This provider belongs to no application.": "Dieser Provider gehört zu keiner Anwendung.",
    "Please confirm your e-mail address first: follow the link in the message we sent you.": (
        "Bitte bestätige zuerst deine E-Mail-Adresse: Folge dem Link in der Nachricht, die wir dir geschickt haben."
    ),
    "Your account has not been approved yet. You will get a message once it is.": (
        "Dein Konto ist noch nicht freigegeben. Sobald es das ist, bekommst du eine Nachricht."
    ),
    "Your account is disabled.": "Dein Konto ist gesperrt.",
    "You may not use this application.": "Du darfst diese Anwendung nicht benutzen.",
    "The resource owner or authorization server denied the request.": "Die Anfrage wurde abgelehnt.",
    "This code is not known. It may have run out, or a letter may be wrong.": (
        "Dieser Code ist nicht bekannt. Vielleicht ist er abgelaufen oder ein Buchstabe stimmt nicht."
    ),
    "Too many wrong codes. Please wait a while, then try again.": (
        "Zu viele falsche Codes. Bitte warte eine Weile und versuche es dann noch einmal."
    ),
    "Know who you are": "Wissen, wer du bist",
    "See your name and user name": "Deinen Namen und Benutzernamen sehen",
    "See your e-mail address": "Deine E-Mail-Adresse sehen",
    "See which groups you are in": "Sehen, in welchen Gruppen du bist",
    "Stay allowed while you are away": "Zugelassen bleiben, während du weg bist",
    "Read everything in your account": "Alles in deinem Konto lesen",
    "Change everything in your account, and post in your name": (
        "Alles in deinem Konto ändern und in deinem Namen schreiben"
    ),
    "Follow, mute and block people for you": "Für dich Leuten folgen, sie stummschalten und blockieren",
    "Send you notifications": "Dir Benachrichtigungen schicken",
    "Use end-to-end encryption for you": "Für dich Ende-zu-Ende-Verschlüsselung benutzen",
    "See accounts": "Konten sehen",
    "See whom you block": "Sehen, wen du blockierst",
    "See your bookmarks": "Deine Lesezeichen sehen",
    "See your collections": "Deine Sammlungen sehen",
    "See your favourites": "Deine Favoriten sehen",
    "See your filters": "Deine Filter sehen",
    "See whom you follow": "Sehen, wem du folgst",
    "See your lists": "Deine Listen sehen",
    "See whom you mute": "Sehen, wen du stummgeschaltet hast",
    "See your notifications": "Deine Benachrichtigungen sehen",
    "Search in your name": "In deinem Namen suchen",
    "See posts": "Beiträge sehen",
    "Change your profile": "Dein Profil ändern",
    "Block people and servers for you": "Für dich Leute und Server blockieren",
    "Bookmark posts for you": "Für dich Lesezeichen setzen",
    "Change your collections": "Deine Sammlungen ändern",
    "Mute and delete conversations": "Unterhaltungen stummschalten und löschen",
    "Favourite posts for you": "Für dich Beiträge favorisieren",
    "Change your filters": "Deine Filter ändern",
    "Follow people for you": "Für dich Leuten folgen",
    "Change your lists": "Deine Listen ändern",
    "Upload files": "Dateien hochladen",
    "Mute people and conversations for you": "Für dich Leute und Unterhaltungen stummschalten",
    "Clear your notifications": "Deine Benachrichtigungen leeren",
    "Report people for you": "Für dich Leute melden",
    "Post, edit and delete in your name": "In deinem Namen schreiben, bearbeiten und löschen",
    "Read everything that moderators see": "Alles lesen, was Moderatoren sehen",
    "Change everything that moderators may change": "Alles ändern, was Moderatoren ändern dürfen",
    "Read what moderators see of accounts": "Lesen, was Moderatoren von Konten sehen",
    "Read reports": "Meldungen lesen",
    "Read which servers are allowed": "Lesen, welche Server erlaubt sind",
    "Read which servers are blocked": "Lesen, welche Server blockiert sind",
    "Read which addresses are blocked": "Lesen, welche Adressen blockiert sind",
    "Read which e-mail domains are blocked": "Lesen, welche E-Mail-Domains blockiert sind",
    "Read which e-mail addresses are blocked": "Lesen, welche E-Mail-Adressen blockiert sind",
    "Moderate accounts": "Konten moderieren",
    "Handle reports": "Meldungen bearbeiten",
    "Allow servers": "Server erlauben",
    "Block servers": "Server blockieren",
    "Block addresses": "Adressen blockieren",
    "Block e-mail domains": "E-Mail-Domains blockieren",
    "Block e-mail addresses": "E-Mail-Adressen blockieren",
}
