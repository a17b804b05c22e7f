import { AgentError } from '../control/agent-errors.ts';
import type { TcpPorts } from '../control/tcp-ports.ts';

interface PortUse {
  /** Live tunnels of the account that use the port. */
  tunnels: number;
  /** Holds for tunnels that were lost. A failed bind for the port does not end them. */
  holds: number;
}

/** The TCP ports of one account, with a limit. Ports that are on hold for lost tunnels count too. */
export class AccountPorts implements TcpPorts {
  readonly #tcpPorts: TcpPorts;
  readonly #max: number;
  readonly #onFree: () => void;
  readonly #ports = new Map<number, PortUse>();
  /** Calls of `open(0)` that are pending: the operating system has not chosen the port yet. */
  #opening = 0;

  /** @param onFree runs when the account has lost its last claim on a port. */
  constructor(tcpPorts: TcpPorts, max: number, onFree: () => void) {
    this.#tcpPorts = tcpPorts;
    this.#max = max;
    this.#onFree = onFree;
  }

  /** The number of ports that the account uses or has on hold. */
  get size(): number {
    return this.#ports.size + this.#opening;
  }

  /** @throws {AgentError} when the account is at its limit and does not have this port already. */
  async open(port: number): Promise<number | undefined> {
    if (!this.#ports.has(port) && this.size >= this.#max) throw new AgentError('tooManyPorts', { max: this.#max });
    if (port !== 0) return this.#openSpecific(port);
    this.#opening++;
    try {
      const opened = await this.#tcpPorts.open(0);
      if (opened !== undefined) this.#use(opened);
      return opened;
    } finally {
      this.#opening--;
    }
  }

  release(port: number, holdMs: number): void {
    this.#tcpPorts.release(port, holdMs);
    this.#release(port, holdMs);
  }

  /** Counts the port before it is open, so that a concurrent call of the account cannot exceed the limit. */
  async #openSpecific(port: number): Promise<number | undefined> {
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
    else this.#ports.set(port, { tunnels: 1, holds: 0 });
  }

  #release(port: number, holdMs: number): void {
    const known = this.#ports.get(port);
    if (!known) return;
    const freeIfUnused = () => {
      if (known.tunnels > 0 || known.holds > 0) return;
      this.#ports.delete(port);
      this.#onFree();
    };
    known.tunnels--;
    if (holdMs <= 0) return void freeIfUnused();
    known.holds++;
    setTimeout(() => {
      known.holds--;
      freeIfUnused();
    }, holdMs).unref();
  }
}
