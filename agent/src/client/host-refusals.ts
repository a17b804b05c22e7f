// Recognizes answers of development servers and frameworks that refuse the name of the endpoint, so that the log can say what helps. It
// looks at the first bytes of 400s and 403s, and takes none for a refusal that another program may have written.

import type { RelayWatch } from '@gateway/protocol';

/** So much of an answer is looked at: pages of frameworks say what is wrong at their beginning. */
const LOOKED_AT_BYTES = 4096;

/** Who refuses so: by the status, and by the body. */
const REFUSALS: readonly { by: string; status: string; body: RegExp; isOfNext?: boolean }[] = [
  // SvelteKit, Astro, Nuxt and Angular have Vite's.
  { by: 'Vite', status: '403', body: /^Blocked request\. This host \(.{1,300}\) is not allowed\./ },
  { by: 'webpack-dev-server', status: '403', body: /^Invalid Host header(?:\r\n|$)/ },
  { by: 'Rails', status: '403', body: /(?:^|<h1>)Blocked hosts?: / },
  { by: 'Django', status: '400', body: /(?:^|<title>)DisallowedHost\s/ },
  { by: 'Next.js', status: '403', body: /^Unauthorized(?:\r\n|$)/, isOfNext: true },
];
/** What Next.js serves to its own pages alone. */
const OF_NEXT = /^GET \/_(?:next\/|_nextjs)/;
const REFUSED = /^HTTP\/1\.1 40[03] /;
const [H, FOUR, UNDERSCORE] = Buffer.from('H4_');

/** The answers on one connection to a service. */
export class HostRefusals implements RelayWatch {
  readonly #onRefusal: (by: string) => void;
  /** The beginning of an answer that may be one; '' while there is none. */
  #answer = '';
  #isOfNext = false;

  /** @param onRefusal called with the name of the program that refuses. */
  constructor(onRefusal: (by: string) => void) {
    this.#onRefusal = onRefusal;
  }

  onToSocket(chunk: Buffer): void {
    this.#isOfNext = chunk[5] === UNDERSCORE && OF_NEXT.test(chunk.toString('latin1', 0, 16));
  }

  onFromSocket(chunk: Buffer): void {
    const isRefused = chunk[0] === H && chunk[9] === FOUR && REFUSED.test(chunk.toString('latin1', 0, 13));
    if (!isRefused && this.#answer === '') return;
    const before = isRefused ? '' : this.#answer;
    this.#answer = before + chunk.toString('latin1', 0, LOOKED_AT_BYTES - before.length);
    const by = this.#refusedBy();
    if (by !== undefined) this.#onRefusal(by);
    if (by !== undefined || this.#answer.length === LOOKED_AT_BYTES) this.#answer = '';
  }

  #refusedBy(): string | undefined {
    const answer = this.#answer;
    const end = answer.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const status = answer.slice(9, 12);
    const body = answer.slice(end + 4).replace(/^[0-9a-f]{1,8}\r\n/i, ''); // The size of the first chunk.
    return REFUSALS.find(
      (refusal) => refusal.status === status && refusal.body.test(body) && (!refusal.isOfNext || this.#isOfNext),
    )?.by;
  }
}
