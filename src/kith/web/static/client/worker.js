// The worker that shows a page without network, and notifications. Where nobody is signed in, nobody is told anything: what
// the browser still holds for whoever was, is given back.
async function begin() {
  const registration = await navigator.serviceWorker.register("/sw.js");
  if (document.body.dataset.me) return;
  const held = await registration.pushManager?.getSubscription();
  await held?.unsubscribe();
}

begin().catch(() => {}); // some browsers refuse in private windows
