// The address of the page. The tab of the address is open.

// go opens an address of the page, with the event that the browser's buttons cause, too.
export function go(address) {
  if (address !== location.pathname + location.search) history.pushState(null, '', address);
  window.dispatchEvent(new PopStateEvent('popstate'));
}
