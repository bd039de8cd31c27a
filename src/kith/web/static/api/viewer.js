// The viewer of both APIs. An app of its own is registered when somebody first wants to sign in with it.
/* global SwaggerUIBundle, SwaggerUIStandalonePreset */
const SCOPES = "read write follow push profile crypto admin:read admin:write";
const KEPT = "kith-api-viewer";
const back = new URL("/api/docs/oauth2-redirect.html", location.href).href;

const viewer = SwaggerUIBundle({
  dom_id: "#viewer",
  urls: [
    { name: "Social API", url: "/api/v1/openapi.json" },
    { name: "Identity API", url: "/api/v2/openapi.json" },
  ],
  layout: "StandaloneLayout",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  oauth2RedirectUrl: back,
  // Whatever name this server was reached by, it is asked under that name.
  requestInterceptor: (request) => {
    const wanted = new URL(request.url, location.href);
    request.url = location.origin + wanted.pathname + wanted.search;
    return request;
  },
});

async function register() {
  const kept = sessionStorage.getItem(KEPT);
  if (kept) return JSON.parse(kept);
  const answer = await fetch("/api/v1/apps", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ client_name: "API viewer", redirect_uris: back, scopes: SCOPES }),
  });
  if (!answer.ok) return null;
  const { client_id, client_secret } = await answer.json();
  sessionStorage.setItem(KEPT, JSON.stringify({ client_id, client_secret }));
  return { client_id, client_secret };
}

let ready = false;
document.addEventListener(
  "click",
  async (event) => {
    const button = event.target.closest("button.authorize, button.authorization__btn");
    if (ready || !button || button.closest(".modal-ux")) return;
    event.preventDefault();
    event.stopPropagation();
    ready = true;
    const app = await register().catch(() => null);
    if (app) {
      viewer.initOAuth({
        clientId: app.client_id,
        clientSecret: app.client_secret,
        scopes: "read write",
        usePkceWithAuthorizationCodeGrant: true,
      });
    }
    button.click();
  },
  true,
);
