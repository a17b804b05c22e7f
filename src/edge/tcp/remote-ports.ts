// The TCP ports of endpoints on other nodes: this node listens on them too, so that visitors may come to any node.

import type { RouteSource } from '../../tunnel/control/routes.ts';
import type { TcpPorts } from '../../tunnel/control/tcp-ports.ts';

/** How often the ports are read without a hint that they have changed; milliseconds. */
const REFRESH_MS = 10_000;
/** How long a port stays open after no other node serves it any more: its agent may come back. In milliseconds. */
const KEEP_MS = 30_000;

export interface RemotePortsDeps {
  routes: Pick<RouteSource, 'remotePorts' | 'onRemotePortsChange'>;
  ports: TcpPorts;
  onFailure(error: unknown): void;
}

export class RemotePorts {
  readonly #deps: RemotePortsDeps;
  readonly #open = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;

  constructor(deps: RemotePortsDeps) {
    this.#deps = deps;
  }

  /** Opens the ports, and follows their changes. Done when those of now are open, or could not be read. */
  async start(): Promise<void> {
    this.#deps.routes.onRemotePortsChange(() => void this.#refresh());
    this.#timer = setInterval(() => void this.#refresh(), REFRESH_MS).unref();
    await this.#refresh();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
  }

  #refresh(): Promise<void> {
    this.#isStale = true;
    this.#refreshing ??= this.#follow().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #follow(): Promise<void> {
    while (this.#isStale && !this.#isClosed) {
      this.#isStale = false;
      try {
        await this.#apply(new Set(await this.#deps.routes.remotePorts()));
      } catch (error) {
        this.#deps.onFailure(error);
      }
    }
  }

  async #apply(wanted: ReadonlySet<number>): Promise<void> {
    const { ports } = this.#deps;
    for (const port of [...this.#open]) {
      if (wanted.has(port)) continue;
      this.#open.delete(port);
      ports.release(port, KEEP_MS);
    }
    // Another process of this machine may have the port, such as the node that serves it: then visitors come to that one.
    for (const port of wanted)
      if (!this.#open.has(port) && (await ports.open(port)) !== undefined) this.#open.add(port);
  }
}
