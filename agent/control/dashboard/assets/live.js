// The agent's stream of events, with the whole document first and then the changes.

// merge applies a JSON merge patch (RFC 7396) to an object, in place, and returns the result.
export function merge(target, patch) {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  if (target === null || typeof target !== 'object' || Array.isArray(target)) target = {};
  for (const [name, v] of Object.entries(patch)) {
    if (v === null) delete target[name];
    else target[name] = merge(target[name], v);
  }
  return target;
}

// listen calls on.open, on.view(document), on.messages(lines) and on.lost() until the page
// is closed.
export function listen(on) {
  let doc;
  const events = new EventSource('/api/events');
  events.addEventListener('open', on.open);
  events.addEventListener('view', (e) => { doc = JSON.parse(e.data); on.view(doc); });
  events.addEventListener('change', (e) => { if (doc) on.view(merge(doc, JSON.parse(e.data))); });
  events.addEventListener('messages', (e) => on.messages(JSON.parse(e.data)));
  events.addEventListener('error', () => {
    on.lost();
    // A browser gives up after an answer that is not a stream, but the agent may be back.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => listen(on), 3000);
  });
}
