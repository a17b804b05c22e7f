// The replays in progress. A request is recognized as a replay by its client address, so that it needs no marker in its
// head.

import type { Visitor } from '../tunnel/endpoints/endpoint.ts';
import type { RequestCapture } from './captured-request.ts';

/** A replay in progress. */
export interface ActiveReplay {
  /** The id of the captured request that it repeats. */
  readonly id: string;
  /** Called when the replay itself was captured. */
  onCaptured(captured: RequestCapture): void;
}

type Address = Pick<Visitor, 'ip' | 'port'>;

/** The replays in progress, by client address. */
export class ActiveReplays {
  readonly #byAddress = new Map<string, ActiveReplay>();

  get size(): number {
    return this.#byAddress.size;
  }

  /** The replay that comes from an address; undefined when the request is none. */
  find(visitor: Address | undefined): ActiveReplay | undefined {
    return visitor && this.#byAddress.size > 0 ? this.#byAddress.get(keyOf(visitor)) : undefined;
  }

  /** Registers a replay by the address of its connection. @returns the function that removes it. */
  add(address: Address, replay: ActiveReplay): () => void {
    const key = keyOf(address);
    this.#byAddress.set(key, replay);
    return () => this.#byAddress.delete(key);
  }
}

const keyOf = ({ ip, port }: Address) => `${ip} ${port}`;
