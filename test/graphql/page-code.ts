// The code of the manual's page for those who build a dashboard of their own, which tests run as it stands there.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { root } from '../support/root.ts';

const page = readFileSync(join(root, 'src/manual/own-dashboard.md'), 'utf8');

/** The blocks of code in one section of the page. */
export function codeOf(section: string, language: 'js' | 'json' = 'js'): string[] {
  const start = page.indexOf(`\n## ${section}\n`);
  if (start === -1) throw new Error(`the page has no section "${section}"`);
  const end = page.indexOf('\n## ', start + 1);
  const blocks = page.slice(start, end === -1 ? undefined : end).matchAll(/```(\w+)\n([\s\S]+?)```/g);
  return [...blocks].flatMap(([, of, code = '']) => (of === language ? [code] : []));
}

/** The WebSocket that all its clients share. */
export const socketCode = codeOf('The store')[0] ?? '';

const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as FunctionConstructor;

/** Waits as long as a client of the tests does before it tries again: not as long as a page. */
export const beforeRetry = () => new Promise<void>((resolve) => setTimeout(resolve, 50));

/** Runs code of the page, as pages of one gateway that a key is given to. */
export class PageCode {
  readonly #sockets: Client[] = [];
  readonly #api: string;
  readonly #apiKey: string;
  readonly #retryWait: () => Promise<void>;

  /** @param retryWait what a WebSocket waits for before it comes back. */
  constructor(api: string, apiKey: string, retryWait = beforeRetry) {
    this.#api = api;
    this.#apiKey = apiKey;
    this.#retryWait = retryWait;
  }

  /** @param names what it imports, and takes from elsewhere. @returns what the code returns. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the code makes.
  async run(code: string, names: Record<string, unknown>): Promise<any> {
    const all = {
      createClient: (options: ClientOptions) => this.#createSocket(options),
      apiKey: this.#apiKey,
      ...names,
    };
    const text = code.replaceAll(/^ *import .*\n/gm, '').replaceAll('127.0.0.1:4000', new URL(this.#api).host);
    return new AsyncFunction(...Object.keys(all), text)(...Object.values(all));
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) await socket.dispose();
  }

  #createSocket(options: ClientOptions): Client {
    const socket = createClient({ ...options, retryWait: this.#retryWait, webSocketImpl: WebSocket });
    this.#sockets.push(socket);
    return socket;
  }
}
