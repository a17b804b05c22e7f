import { AgentError } from '../control/agent-errors.ts';
import type { TcpPorts } from '../control/tcp-ports.ts';

interface PortUse {
  /** Those of the account that have it. */
  tunnels: number;
  /** How many that were lost it is kept for. Who asks for it in vain meanwhile leaves it so. */
  kept: number;
}

/** The TCP ports as one account sees them. It has at most so many; ports that are kept for it count. */
export class AccountPorts implements TcpPorts {
  readonly #tcpPorts: TcpPorts;
  readonly #max: number;
  readonly #onFree: () => void;
  readonly #ports = new Map<number, PortUse>();
  /** Ports of the system's choice that are being opened. */
  #opening = 0;

  /** @param onFree told when a port is no longer the account's. */
  constructor(tcpPorts: TcpPorts, max: number, onFree: () => void) {
    this.#tcpPorts = tcpPorts;
    this.#max = max;
    this.#onFree = onFree;
  }

  /** Ports of the account. */
  get size(): number {
    return this.#ports.size + this.#opening;
  }

  /** @throws {AgentError} when the account has as many ports as it may, and this is none of them. */
  async open(port: number): Promise<number | undefined> {
    if (!this.#ports.has(port) && this.size >= this.#max) throw new AgentError('tooManyPorts', { max: this.#max });
    if (port !== 0) return this.#openKnown(port);
    this.#opening++;
    try {
      const opened = await this.#tcpPorts.open(0);
      if (opened !== undefined) this.#use(opened);
      return opened;
    } finally {
      this.#opening--;
    }
  }

  release(port: number, keepMs: number): void {
    this.#tcpPorts.release(port, keepMs);
    this.#release(port, keepMs);
  }

  /** Counted before it is open, so that no other call of the account takes the last one meanwhile. */
  async #openKnown(port: number): Promise<number | undefined> {
    this.#use(port);
    const opened = await this.#tcpPorts.open(port).catch((error) => {
      this.#release(port, 0);
      throw error;
    });
    if (opened === undefined) this.#release(port, 0);
    return opened;
  }

  #use(port: number): void {
    const known = this.#ports.get(port);
    if (known) known.tunnels++;
    else this.#ports.set(port, { tunnels: 1, kept: 0 });
  }

  #release(port: number, keepMs: number): void {
    const known = this.#ports.get(port);
    if (!known) return;
    const free = () => {
      if (known.tunnels > 0 || known.kept > 0) return;
      this.#ports.delete(port);
      this.#onFree();
    };
    known.tunnels--;
    if (keepMs <= 0) return void free();
    known.kept++;
    setTimeout(() => {
      known.kept--;
      free();
    }, keepMs).unref();
  }
}
