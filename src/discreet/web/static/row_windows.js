// Rows of a comparison, loaded in windows as they come into sight. The windows used last are kept; a request for rows that have
// left the view is dropped, and none is sent before the view has come to rest, so a drag through a large table asks for little.
const SIZE = 200;
const KEPT = 20;
const REST_MS = 80;
const AGAIN_MS = 2000;

export class RowWindows {
  constructor(address, query, { loaded, failed }) {
    Object.assign(this, { address, query, loaded, failed, windows: new Map(), loading: null, request: null, timer: null });
  }

  // A row by its position from 0; undefined where it is not loaded.
  row(position) {
    return this.windows.get(Math.floor(position / SIZE))?.[position % SIZE];
  }

  // Load what is missing of the rows from first to last, the first missing window first.
  want(first, last) {
    let missing = null;
    for (let at = Math.floor(first / SIZE); at <= Math.floor(last / SIZE); at += 1) {
      const rows = this.windows.get(at);
      if (rows) {
        this.windows.delete(at);
        this.windows.set(at, rows); // the order of a map is the order of use
      } else if (missing === null) missing = at;
    }
    if (missing === this.loading) return;
    clearTimeout(this.timer);
    this.request?.abort();
    this.loading = missing;
    if (missing !== null) this.timer = setTimeout(() => this.fetchWindow(missing), REST_MS);
  }

  // Load the window of a row; the whole response is returned, for the columns are in it, too.
  async fetchWindow(at) {
    this.loading = at;
    this.request = new AbortController();
    const query = new URLSearchParams({ ...this.query, offset: at * SIZE, limit: SIZE });
    try {
      const response = await fetch(`${this.address}?${query}`, { headers: { Accept: "application/json" }, signal: this.request.signal });
      const content = await response.json();
      if (!response.ok) throw new Error(content.message ?? "The rows could not be loaded.");
      this.windows.set(at, content.rows);
      if (this.windows.size > KEPT) this.windows.delete(this.windows.keys().next().value);
      this.loading = null;
      this.loaded(content);
      return content;
    } catch (error) {
      if (error.name === "AbortError") return null;
      this.failed(error instanceof TypeError ? "The server cannot be reached." : error.message);
      this.timer = setTimeout(() => { if (this.loading === at) this.loading = null; }, AGAIN_MS); // the next scroll asks again
      return null;
    }
  }

  fetchRow(position) {
    return this.fetchWindow(Math.floor(position / SIZE));
  }
}
