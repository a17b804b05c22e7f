// TCP ports that this node listens on for others than its own agents: those of endpoints on other nodes, so that visitors may come to
// any node, and those of TCP edges.

import type { TcpPorts } from '../../tunnel/control/tcp-ports.ts';

/** How often the ports are read without a hint that they have changed; milliseconds. */
const REFRESH_MS = 10_000;

/** Ports that are wanted, as others say. */
export interface PortSource {
  /** Those that are wanted now. */
  ports(): readonly number[] | Promise<readonly number[]>;
  /** Calls the listener when they may have changed. What it answers is settled when this node follows the change. */
  onChange(listener: () => Promise<void>): void;
}

export interface FollowedPortsDeps {
  source: PortSource;
  ports: TcpPorts;
  /** How long a port stays open after the source has it no longer, in milliseconds. */
  keepMs: number;
  /** Told once of a port that another process of this machine has. It is tried again until it can be had. */
  onBusy?(port: number): void;
  onFailure(error: unknown): void;
}

/** Opens the ports of a source, and closes those that it has no longer. */
export class FollowedPorts {
  readonly #deps: FollowedPortsDeps;
  readonly #open = new Set<number>();
  readonly #busy = new Set<number>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;

  constructor(deps: FollowedPortsDeps) {
    this.#deps = deps;
  }

  /** Opens the ports, and follows their changes. Done when those of now are open, or could not be read. */
  async start(): Promise<void> {
    this.#deps.source.onChange(() => this.#refresh());
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
        await this.#apply(new Set(await this.#deps.source.ports()));
      } catch (error) {
        this.#deps.onFailure(error);
      }
    }
  }

  async #apply(wanted: ReadonlySet<number>): Promise<void> {
    const { ports, keepMs, onBusy } = this.#deps;
    for (const port of [...this.#open]) {
      if (wanted.has(port)) continue;
      this.#open.delete(port);
      ports.release(port, keepMs);
    }
    // Another process of this machine may have the port, such as the node that serves it: then visitors come to that one.
    for (const port of wanted) {
      if (this.#open.has(port)) continue;
      const isOpen = (await ports.open(port)) !== undefined;
      if (isOpen) this.#open.add(port);
      else if (!this.#busy.has(port)) onBusy?.(port);
      if (isOpen) this.#busy.delete(port);
      else this.#busy.add(port);
    }
    for (const port of this.#busy) if (!wanted.has(port)) this.#busy.delete(port);
  }
}
