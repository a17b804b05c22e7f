// Which requests are replays: told by the address that they come from, so that nothing of it is in the request.

import type { Visitor } from '../tunnel/endpoints/endpoint.ts';
import type { RequestCapture } from './captured-request.ts';

/** A replay that is under way. */
export interface ActiveReplay {
  /** Of the request that it repeats. */
  readonly id: string;
  onCaptured(captured: RequestCapture): void;
}

type Address = Pick<Visitor, 'ip' | 'port'>;

export class ActiveReplays {
  readonly #underWay = new Map<string, ActiveReplay>();

  get size(): number {
    return this.#underWay.size;
  }

  find(visitor: Address | undefined): ActiveReplay | undefined {
    return visitor && this.#underWay.size > 0 ? this.#underWay.get(keyOf(visitor)) : undefined;
  }

  /** What comes from the address is the replay, until the returned function is called. */
  add(address: Address, replay: ActiveReplay): () => void {
    const key = keyOf(address);
    this.#underWay.set(key, replay);
    return () => this.#underWay.delete(key);
  }
}

const keyOf = ({ ip, port }: Address) => `${ip} ${port}`;
